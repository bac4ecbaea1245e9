"""SPARQL: a query enters, a document or rows leave, in processes of their own with limits of time, memory and size.

`engine.py` hands queries to workers (`worker.py`, `messages.py`), fairly between clients (`fair_queue.py`). `lexer.py` and
`service_calls.py` refuse what may not be asked and find calls of the text service; `result_documents.py` and `rows.py` write and
read results. No query is parsed or answered in the process that asks, and none reaches another server.
"""
