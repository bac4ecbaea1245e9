"""SPARQL: a query enters, a document leaves; queries run in separate processes with limits of time, memory and size.

`engine.py` hands queries to workers (`worker.py`, `messages.py`), fairly between clients. `query_text.py` refuses forbidden
queries and finds calls of the text service; `result_documents.py` writes results. The calling process parses and answers no
query, and no query reaches another server.
"""
