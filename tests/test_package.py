"""What `import rdfspider` gives: every public name, when it is asked for and not before."""

import subprocess
import sys
import types

import pytest

import rdfspider


def run_python(code: str) -> str:
    """What code says in a process in which nothing of ours is imported yet."""
    done = subprocess.run(
        [sys.executable, "-W", "error::ImportWarning", "-c", code],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stderr == ""
    return done.stdout.strip()


def test_every_name_can_be_had() -> None:
    for name in rdfspider.__all__:
        assert getattr(rdfspider, name).__name__ == name
    assert {*rdfspider.__all__, "__version__"} <= set(dir(rdfspider))
    assert (
        run_python("from rdfspider import *; print(extract.__module__, Crawl.__name__)") == "rdfspider.pipeline Crawl"
    )


def test_all_is_listed_before_it_is_used() -> None:
    assert run_python("import rdfspider; print({*rdfspider.__all__} <= {*dir(rdfspider)})") == "True"


def test_nothing_is_imported_before_it_is_used() -> None:
    code = "import sys, rdfspider; rdfspider.UsageError; print([name for name in sys.modules if 'rdfspider.' in name])"
    assert run_python(code) == "['rdfspider.errors']"


def test_what_is_not_there_says_so() -> None:
    with pytest.raises(AttributeError, match="module 'rdfspider' has no attribute 'extracts'"):
        _ = rdfspider.extracts  # type: ignore[attr-defined]
    with pytest.raises(ImportError):
        from rdfspider import extracts  # type: ignore[attr-defined]  # noqa: F401


@pytest.mark.parametrize(
    "before",
    [
        "import rdfspider",
        "import rdfspider.extract",
        "import rdfspider.extract.page",
        "from rdfspider.extract import page",
        "import rdfspider; rdfspider.Crawl",
        "import rdfspider; rdfspider.extract; import rdfspider.extract.page",
    ],
)
def test_extract_is_the_function_whatever_was_imported_before(before: str) -> None:
    """The stage of that name is a package of ours, and Python would put it there."""
    code = f"{before}\nfrom rdfspider import extract\nprint(type(rdfspider.extract).__name__, rdfspider.extract is extract)"
    assert run_python(f"import rdfspider\n{code}") == "function True"
    assert isinstance(rdfspider.extract, types.FunctionType)


def test_extract_can_be_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rdfspider, "extract", len)
    assert rdfspider.extract is len
