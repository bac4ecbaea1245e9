"""`rdfspider verify` and `doctor`: find what is damaged in a crawl's folder, and mend it."""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from rdfspider.backup.objects import Objects
from rdfspider.backup.verification import VerifiedBackup, verify_backup
from rdfspider.commands.options import AsJson, Folder, folder_option
from rdfspider.commands.terminal import say, show, show_log
from rdfspider.errors import UsageError
from rdfspider.repair.doctor import mend_crawl, plan_mends
from rdfspider.repair.findings import KINDS, Finding
from rdfspider.repair.verify import verify_crawl
from rdfspider.run.backups import read_url


def verify(
    *,
    folder: Annotated[Path | None, folder_option("The folder of the crawl.")] = None,
    backup: Annotated[
        str | None, typer.Option("--backup", metavar="URL", help="Verify a backup instead: read all that it has.")
    ] = None,
    deep: Annotated[
        bool, typer.Option("--deep", help="Read every record, row and file, with their checksums; this takes long.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Tell whether a crawl's files can be read, and agree.

    Nothing is changed. The exit code is 1 if something is damaged; `rdfspider doctor` mends it.
    """
    if (folder is None) == (backup is None):
        raise UsageError("name what to verify: --dir DIR for a crawl's folder, or --backup URL for its backup")
    if backup is not None:
        _verify_backup(read_url(backup, "--backup"), as_json)
    elif folder is not None:
        _verify_folder(folder, deep, as_json)


def _verify_backup(url: str, as_json: bool) -> None:
    seen = VerifiedBackup()
    faults = 0
    with show_log():
        for fault in verify_backup(Objects(url, creates=False), seen):
            faults += 1
            typer.echo(msgspec.json.encode(fault) if as_json else f"{fault.key}: {fault.message}")
    if faults:
        say(f"{_count(faults)} missing or damaged in {url}")
        raise typer.Exit(1)
    say(
        f"nothing is damaged: {seen.manifests:,} manifests of {seen.members:,} members, {seen.objects:,} objects, "
        f"{seen.bytes / 1e6:,.1f} MB"
    )


def _verify_folder(folder: Path, deep: bool, as_json: bool) -> None:
    with show_log():
        findings = list(verify_crawl(folder, is_deep=deep))
    for line in map(msgspec.json.encode, findings) if as_json else map(write_finding, findings):
        typer.echo(line)
    faults = sum(finding.kind.is_fault for finding in findings)
    if faults:
        say(
            f"{_count(faults)} damaged; `rdfspider doctor --dir {folder}` says what it would do, and does it with --yes"
        )
        raise typer.Exit(1)
    say(
        "nothing is damaged"
        if deep
        else "nothing is damaged, as far as lengths and counts tell; --deep reads everything"
    )


def doctor(
    *,
    folder: Folder,
    yes: Annotated[bool, typer.Option("--yes", help="Do it without asking.")] = False,
) -> None:
    """Mend what is damaged in a crawl's folder.

    It reads everything, says what it will do, and asks. What is replaced is moved to DIR/set-aside; nothing is deleted. The next
    crawl fetches pages again whose records are lost.
    """
    with show_log():
        findings = list(verify_crawl(folder, is_deep=True))
        if not findings:
            say("nothing is damaged")
            return
        for step in plan_mends(findings):
            typer.echo(
                f"{step.where}: {KINDS[step.code].meaning} ({step.message}): {step.what or 'you have to decide'}"
            )
        if not yes and not _ask():
            say("nothing was changed")
            raise typer.Exit(1)
        aside = mend_crawl(folder, findings, show)
        left = [finding for finding in verify_crawl(folder, is_deep=True) if finding.kind.is_fault]
    if aside.exists():
        say(f"what was replaced is in {aside}; remove it when you are sure that nothing of it is needed")
    if left:
        _tell_left(left)
        raise typer.Exit(1)
    say(f"nothing is damaged any more; `rdfspider crawl --dir {folder}` goes on")


def write_finding(finding: Finding) -> str:
    """Describe a finding in one line."""
    count = f" ({finding.count:,})" if finding.count > 1 else ""
    return f"{finding.where}: {finding.kind.meaning}{count}: {finding.message}"


def _ask() -> bool:
    if not sys.stdin.isatty():
        say("--yes does this without asking")
        return False
    return typer.confirm("Do this?", err=True)


def _tell_left(findings: Iterable[Finding]) -> None:
    for finding in findings:
        say(f"still damaged: {write_finding(finding)}")


def _count(number: int) -> str:
    return "one thing is" if number == 1 else f"{number:,} things are"
