"""Copies of crawls in an object store: what is in a crawl's folder enters, objects and manifests leave, and the way back.

A crawl has some *members*: each shard, and the `head`, which is the small files beside them. A member's state is a *manifest*:
a list of files and of parts of WARC segments, each with its object and digest. Objects are never overwritten, and a manifest is
written last, so that it names complete objects only. Each life of a member has an *epoch* that the store gives; the manifest
with the highest epoch and number counts, and nothing that an earlier life writes later can take its place.

MEMBER/epochs/12                          begun by one life, and by no other
MEMBER/manifests/12-34.json               the state of that life after its 34th shipment
MEMBER/files/12-34/000123.sst             a file that was new then
MEMBER/segments/12-34/NAME.warc.gz.0-500  bytes of a WARC segment that were new then
"""
