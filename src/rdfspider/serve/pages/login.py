"""Log in with the token, log out, and choose whether images from other servers are shown."""

from rdfspider.serve.access import IMAGES_COOKIE
from rdfspider.serve.replies import PageReply, PageRequest, Parameter, SitePage


def show_login(request: PageRequest) -> PageReply:
    """Show a form for the token."""
    return PageReply("login.html", {"next": _find_next(request), "message": ""})


def log_in(request: PageRequest) -> PageReply:
    """Check the token, and set a session cookie."""
    access = request.site.access
    if not access.is_token(request.get("token")):
        message = "that is not the token; it was printed when the server started"
        return PageReply("login.html", {"next": _find_next(request), "message": message}, status=403)
    return PageReply("", redirect=_find_next(request), cookies={access.cookie: access.open_session()})


def log_out(request: PageRequest) -> PageReply:
    """End the session and delete its cookie."""
    request.site.access.close_session(request.session)
    return PageReply("", redirect=_find_next(request), cookies={request.site.access.cookie: None})


def choose_images(request: PageRequest) -> PageReply:
    """Store whether images from other servers are shown."""
    return PageReply(
        "", redirect=_find_next(request), cookies={IMAGES_COOKIE: "on" if request.get("show") == "on" else None}
    )


def _find_next(request: PageRequest) -> str:
    """Where to redirect afterwards; only within this site."""
    target = request.get("next")
    is_own = target.startswith("/") and not target.startswith(("//", "/\\")) and not any(sign < " " for sign in target)
    return target if is_own else "/monitor"


_NEXT = Parameter("next", "A path of this site to go to then.")
PAGES = (
    SitePage("/login", show_login, "A form for the token.", (_NEXT,), formats=("html",)),
    SitePage(
        "/login",
        log_in,
        "Show the token.",
        (Parameter("token", "As printed at the start."), _NEXT),
        "POST",
        formats=("html",),
    ),
    SitePage("/logout", log_out, "Let the token go.", (_NEXT,), "POST", formats=("html",)),
    SitePage(
        "/images",
        choose_images,
        "Say whether images of other servers are shown.",
        (Parameter("show", "on or off."), _NEXT),
        "POST",
        formats=("html",),
    ),
)
