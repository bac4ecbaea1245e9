"""Where the token is shown, and let go; and where a person says that images of other servers may be seen."""

from rdfspider.serve.access import COOKIE, IMAGES_COOKIE
from rdfspider.serve.views import Ask, Page, Parameter, RefusedError, View


def show_login(ask: Ask) -> View:
    """A form for the token."""
    return View("login.html", {"next": _find_next(ask)})


def log_in(ask: Ask) -> View:
    """Take the token, and give a cookie for it."""
    if not ask.site.access.is_token(ask.get("token")):
        raise RefusedError("that is not the token; it was printed when the server started")
    return View("", redirect=_find_next(ask), cookies={COOKIE: ask.site.access.cookie})


def log_out(ask: Ask) -> View:
    """Take the cookie back."""
    return View("", redirect=_find_next(ask), cookies={COOKIE: None})


def choose_images(ask: Ask) -> View:
    """Remember whether images of other servers are shown."""
    return View("", redirect=_find_next(ask), cookies={IMAGES_COOKIE: "on" if ask.get("show") == "on" else None})


def _find_next(ask: Ask) -> str:
    """Where to go then; only within this site."""
    target = ask.get("next")
    is_own = target.startswith("/") and not target.startswith(("//", "/\\")) and not any(sign < " " for sign in target)
    return target if is_own else "/monitor"


_NEXT = Parameter("next", "A path of this site to go to then.")
PAGES = (
    Page("/login", show_login, "A form for the token.", (_NEXT,), formats=("html",)),
    Page(
        "/login",
        log_in,
        "Show the token.",
        (Parameter("token", "As printed at the start."), _NEXT),
        "POST",
        formats=("html",),
        is_heavy=True,
    ),
    Page("/logout", log_out, "Let the token go.", (_NEXT,), "POST", formats=("html",)),
    Page(
        "/images",
        choose_images,
        "Say whether images of other servers are shown.",
        (Parameter("show", "on or off."), _NEXT),
        "POST",
        formats=("html",),
    ),
)
