"""Where the token is shown, and let go; and where a person says that images of other servers may be seen."""

from rdfspider.serve.access import IMAGES_COOKIE
from rdfspider.serve.replies import Ask, Page, Parameter, View


def show_login(ask: Ask) -> View:
    """A form for the token."""
    return View("login.html", {"next": _find_next(ask), "message": ""})


def log_in(ask: Ask) -> View:
    """Take the token, and give a cookie for it."""
    access = ask.site.access
    if not access.is_token(ask.get("token")):
        message = "that is not the token; it was printed when the server started"
        return View("login.html", {"next": _find_next(ask), "message": message}, status=403)
    return View("", redirect=_find_next(ask), cookies={access.cookie: access.open_session()})


def log_out(ask: Ask) -> View:
    """Take the cookie back."""
    ask.site.access.close_session(ask.session)
    return View("", redirect=_find_next(ask), cookies={ask.site.access.cookie: None})


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
