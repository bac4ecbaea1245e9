"""The live monitor: samples of the crawl's status and of the machine enter; charts, HTML sections, server-sent events and
Prometheus metrics leave."""
