"""The words of a page, for people and for search: its main text where one stands out, else all that is shown."""

from rdfspider.extract.dom import Document

MIN_MAIN_CHARS = 200
"""Less than this is no main text: a stub, a listing or a front page, of which everything is taken."""


def read_text(tree: Document) -> str:
    """The main text without navigation, or the whole text; lines are the page's blocks.

    A page with one `article` or one `main` says itself where it is; to find it otherwise means to weigh every block.
    """
    for tag in ("article", "main"):
        elements = tree.select(tag)
        if len(elements) == 1 and len(text := elements[0].to_text()) >= MIN_MAIN_CHARS:
            return text
    text = tree.main_text()
    return text if len(text) >= MIN_MAIN_CHARS else tree.to_text()
