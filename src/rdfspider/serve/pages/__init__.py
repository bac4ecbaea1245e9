"""The pages of the site, one module each: a `PageRequest` enters, a `PageReply` leaves. `PAGES` at the end of a module lists
its pages with their paths and parameters; `serve/app.py` collects them, and `serve/openapi.py` describes them."""
