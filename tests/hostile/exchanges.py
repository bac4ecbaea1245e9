"""Hostile HTTP: replies that are silent, slow, endless, broken, packed or false."""

from __future__ import annotations

import asyncio
import gzip
import random
import zlib

import brotli

from hostile.scenes import NEVER_S, Asked, Reply, Scene, exchange, respond, site, write_head

MEGABYTE = 1024 * 1024
KEPT_BYTES = 2 * MEGABYTE
"""Bodies are made a good deal longer than a crawl of these tests may keep."""


@exchange("first-byte-timeout")
def silent(chance: random.Random) -> Reply:
    async def wait(asked: Asked) -> None:
        await asyncio.sleep(NEVER_S)

    return wait


@exchange("reset")
def closes_without_a_word(chance: random.Random) -> Reply:
    async def close(asked: Asked) -> None:
        await asyncio.sleep(chance.uniform(0, 0.2))

    return close


@exchange("reset")
def resets(chance: random.Random) -> Reply:
    start = b"HTTP/1.1 200 OK\r\nContent-Le"[: chance.randrange(1, 20)]

    async def reset(asked: Asked) -> None:
        await asked.send(start, 0.05)
        asked.reset()

    return reset


@exchange("disconnect")
def resets_in_the_body(chance: random.Random) -> Reply:
    sent = b"<p>word" * chance.randrange(100, 2000)

    async def reset(asked: Asked) -> None:
        await asked.send(write_head("Content-Length: 9999999") + sent, 0.2)
        asked.reset()

    return reset


@exchange("timeout", "first-byte-timeout")
def slow_head(chance: random.Random) -> Reply:
    name = "X" * chance.randrange(1, 30)

    async def drip(asked: Asked) -> None:
        await asked.send(b"HTTP/1.1 200 OK\r\n")
        await asked.send_forever(f"{name}: y\r\n".encode(), chance.uniform(0.1, 0.4))

    return drip


@exchange("too-large")
def endless_head(chance: random.Random) -> Reply:
    async def flood(asked: Asked) -> None:
        await asked.send(b"HTTP/1.1 200 OK\r\n")
        await asked.send_forever(b"".join(b"X-%d: %s\r\n" % (chance.randrange(10**6), b"y" * 500) for _ in range(20)))

    return flood


@exchange("too-large")
def endless_header_line(chance: random.Random) -> Reply:
    async def flood(asked: Asked) -> None:
        await asked.send(b"HTTP/1.1 200 OK\r\nX-Long: ")
        await asked.send_forever(b"y" * chance.randrange(1000, 60_000))

    return flood


@exchange("too-large")
def interim_answers_without_end(chance: random.Random) -> Reply:
    status = chance.choice((b"100 Continue", b"102 Processing", b"103 Early Hints"))

    async def flood(asked: Asked) -> None:
        await asked.send_forever((b"HTTP/1.1 " + status + b"\r\nX: y\r\n\r\n") * 100)

    return flood


@exchange("time")
def slow_body(chance: random.Random) -> Reply:
    piece = b"<p>drop" * chance.randrange(1, 4)

    async def drip(asked: Asked) -> None:
        await asked.send(write_head("Content-Length: 9999999"))
        await asked.send_forever(piece, chance.uniform(0.1, 0.4))

    return drip


@exchange("length", "time")
def endless_body(chance: random.Random) -> Reply:
    piece = f"<p>{chance.random()}</p>".encode() * 1000

    async def flood(asked: Asked) -> None:
        await asked.send(write_head("Connection: close"))
        await asked.send_forever(piece)

    return flood


@exchange("length", "time")
def endless_chunks(chance: random.Random) -> Reply:
    piece = f"<p>{chance.random()}</p>".encode() * 500

    async def flood(asked: Asked) -> None:
        await asked.send(write_head("Transfer-Encoding: chunked"))
        await asked.send_forever(b"%x\r\n%s\r\n" % (len(piece), piece))

    return flood


@exchange("time", "length")
def tiny_chunks_without_end(chance: random.Random) -> Reply:
    async def flood(asked: Asked) -> None:
        await asked.send(write_head("Transfer-Encoding: chunked"))
        await asked.send_forever(b"1\r\nx\r\n" * chance.randrange(10, 200), 0.01)

    return flood


def closing(data: bytes) -> Reply:
    """Send so much and close."""

    async def end(asked: Asked) -> None:
        await asked.send(data)

    return end


@exchange("disconnect")
def more_announced_than_sent(chance: random.Random) -> Reply:
    return closing(write_head(f"Content-Length: {chance.randrange(10**5, 10**9)}") + b"<p>half")


@exchange("fetched")
def more_sent_than_announced(chance: random.Random) -> Reply:
    false = respond(b"<title>an answer that nobody asked for</title>")
    return respond(b"<title>short</title>") + false * chance.randrange(1, 20)


@exchange("protocol")
def two_lengths(chance: random.Random) -> Reply:
    return closing(write_head("Content-Length: 5", f"Content-Length: {chance.randrange(6, 900)}") + b"<p>ab" * 200)


@exchange("protocol", "fetched", "reset")
def a_length_that_is_none(chance: random.Random) -> Reply:
    return closing(write_head(f"Content-Length: {chance.choice(('-1', '0x10', '1e3', '5, 5', ''))}") + b"<p>ab")


@exchange("disconnect", "too-large", "protocol", "fetched")
def a_length_beyond_all_numbers(chance: random.Random) -> Reply:
    return closing(write_head(f"Content-Length: 9{'9' * chance.randrange(20, 300)}") + b"<p>ab")


@exchange("reset", "disconnect", "protocol")
def a_chunk_size_that_is_none(chance: random.Random) -> Reply:
    size = chance.choice((b"zz", b"-5", b"0x10", b"ffffffffffffffffff", b" "))
    return closing(write_head("Transfer-Encoding: chunked") + size + b"\r\n<p>abc\r\n0\r\n\r\n")


@exchange("disconnect")
def chunks_that_stop(chance: random.Random) -> Reply:
    return closing(write_head("Transfer-Encoding: chunked") + b"4\r\n<p>x\r\n" * chance.randrange(1, 9))


@exchange("time", "disconnect")
def trailers_without_end(chance: random.Random) -> Reply:
    async def flood(asked: Asked) -> None:
        await asked.send(write_head("Transfer-Encoding: chunked") + b"4\r\n<p>x\r\n0\r\n")
        await asked.send_forever(b"X-Trailer: %s\r\n" % (b"y" * chance.randrange(100, 3000)))

    return flood


@exchange("status-999")
def status_999(chance: random.Random) -> Reply:
    return respond(b"<p>no", status=999)


@exchange("protocol", "reset")
def a_status_that_is_none(chance: random.Random) -> Reply:
    return closing(f"HTTP/1.1 {chance.choice(('20', '2000', 'OK', '-1', ''))}\r\nX: y\r\n\r\n<p>".encode())


@exchange("protocol")
def http_0_9(chance: random.Random) -> Reply:
    return closing(b"<title>Before there were heads</title>" * chance.randrange(1, 100))


@exchange("protocol")
def bytes_of_no_protocol(chance: random.Random) -> Reply:
    return closing(b"\xff" + chance.randbytes(chance.randrange(20, 5000)))


@exchange("protocol", "reset")
def nul_in_the_head(chance: random.Random) -> Reply:
    return closing(b"HTTP/1.1 200 OK\r\nX-Nul: a\0b\r\nContent-Length: 3\r\n\r\n<p>")


@exchange("protocol", "fetched", "reset")
def a_version_to_come(chance: random.Random) -> Reply:
    return closing(f"HTTP/{chance.randrange(4, 10)}.9 200 OK\r\nContent-Length: 3\r\n\r\n<p>".encode())


@exchange("protocol", "reset", "status-101", "timeout", "first-byte-timeout")
def switches_protocols(chance: random.Random) -> Reply:
    return closing(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n" + bytes(50))


@exchange("unchanged")
def not_modified_unasked(chance: random.Random) -> Reply:
    return b"HTTP/1.1 304 Not Modified\r\nETag: x\r\n\r\n"


@exchange("fetched", "disconnect")
def a_part_unasked(chance: random.Random) -> Reply:
    return respond(b"<p>part", "text/html", "Content-Range: bytes 0-6/99999999999", status=206)


@exchange("status-401", "status-407")
def wants_a_password(chance: random.Random) -> Reply:
    status = chance.choice((401, 407))
    return respond(b"<p>who?", "text/html", f'WWW-Authenticate: Basic realm="{"r" * 50_000}"', status=status)


@exchange("status-500", "status-502", "status-504")
def always_an_error(chance: random.Random) -> Reply:
    return respond(b"<p>error", status=chance.choice((500, 502, 504)))


@exchange("given-up")
def too_many_requests_for_ever(chance: random.Random) -> Reply:
    wait = chance.choice(("99999999999999999999", "9" * 400, "Fri, 31 Dec 9999 23:59:59 GMT"))
    return respond(b"<p>later", "text/html", f"Retry-After: {wait}", status=429)


@exchange("given-up")
def unavailable_with_nonsense(chance: random.Random) -> Reply:
    wait = chance.choice(("-5", "soon", "1e308", "NaN", "0x10", "Thu, 01 Jan 1970 00:00:00 GMT", "١٢"))
    return respond(b"<p>later", "text/html", f"Retry-After: {wait}".encode().decode("latin-1"), status=503)


@exchange("fetched")
def huge_cookies(chance: random.Random) -> Reply:
    cookies = [f"Set-Cookie: c{number}={'v' * 4000}; Domain=.test" for number in range(chance.randrange(10, 40))]
    return respond(b"<p>sweet", "text/html", *cookies)


@exchange("fetched", "unwanted")
def a_media_type_without_end(chance: random.Random) -> Reply:
    return respond(b"<p>typed", f"{chance.choice(('text/', 'image/'))}{'x;' * 30_000}")


@exchange("fetched")
def ten_thousand_link_headers(chance: random.Random) -> Reply:
    links = ", ".join(f'</l/{chance.randrange(40)}>; rel=next; title="{"a" * 20}"' for _ in range(1200))
    return respond(b"<p>linked", "text/html", f"Link: {links}", f"Link: {'<' * 20_000}")


# Packed bodies.


def unpacked(chance: random.Random) -> bytes:
    """Much more than may be kept, and hardly anything when it is packed."""
    return (b"<p>" + chance.choice((b"a", b"\0", b"<b>")) * 1000) * (4 * KEPT_BYTES // 1000)


@exchange("length")
def gzip_bomb(chance: random.Random) -> Reply:
    return respond(
        gzip.compress(unpacked(chance)), "text/html", f"Content-Encoding: {chance.choice(('gzip', 'x-gzip'))}"
    )


@exchange("length")
def deflate_bomb(chance: random.Random) -> Reply:
    packed = zlib.compress(unpacked(chance))
    return respond(packed if chance.random() < 0.5 else packed[2:-4], "text/html", "Content-Encoding: deflate")


@exchange("length")
def brotli_bomb(chance: random.Random) -> Reply:
    return respond(brotli.compress(unpacked(chance), quality=5), "text/html", "Content-Encoding: br")


@exchange("protocol")
def zstd_bomb(chance: random.Random) -> Reply:
    # RFC 8878: a frame with a window of gigabytes, and blocks of one byte that is repeated 128 KiB times. It was not asked for.
    window = bytes([chance.randrange(20, 32) << 3])
    block = (2**17 << 3 | 1 << 1).to_bytes(3, "little") + b"a"
    return respond(b"\x28\xb5\x2f\xfd\x00" + window + block * 500, "text/html", "Content-Encoding: zstd")


@exchange("length", "protocol", "disconnect")
def a_bomb_in_layers(chance: random.Random) -> Reply:
    layers = chance.randrange(2, 5)
    body = unpacked(chance)
    for _ in range(layers):
        body = gzip.compress(body)
    return respond(body, "text/html", f"Content-Encoding: {', '.join(['gzip'] * layers)}")


@exchange("protocol")
def a_hundred_encodings(chance: random.Random) -> Reply:
    return respond(gzip.compress(b"<p>x"), "text/html", f"Content-Encoding: {', '.join(['gzip'] * 100)}")


@exchange("protocol")
def packed_in_name_only(chance: random.Random) -> Reply:
    return respond(b"<p>not packed" * 50, "text/html", f"Content-Encoding: {chance.choice(('gzip', 'br', 'zstd'))}")


@exchange("protocol")
def an_encoding_that_nobody_knows(chance: random.Random) -> Reply:
    return respond(chance.randbytes(400), "text/html", "Content-Encoding: exotic")


@exchange("disconnect")
def packed_and_cut(chance: random.Random) -> Reply:
    packed = gzip.compress(bytes(chance.choices(b"<p>abc ", k=50_000)))
    return respond(packed[: len(packed) // 2], "text/html", "Content-Encoding: gzip")


# Redirects.


def moved(location: str, *headers: str, status: int = 302) -> bytes:
    """A redirect; the location may have any bytes."""
    lines = "".join(f"{line}\r\n" for line in (f"Location: {location}", *headers))
    return f"HTTP/1.1 {status} Moved\r\nContent-Length: 0\r\n{lines}\r\n".encode()


@exchange("status-302", "redirect")
def a_redirect_to_nowhere(chance: random.Random) -> Reply:
    target = chance.choice(("", "http://", "http://[::bad/", "///", "?\x7f", "http://%00.test/", "\\\\host\\share"))
    return moved(target)


@exchange("redirect", "status-302", "too-large")
def a_redirect_of_a_hundred_kilobytes(chance: random.Random) -> Reply:
    return moved(f"/{'long/' * chance.randrange(2000, 18_000)}")


@exchange("redirect")
def a_redirect_to_another_scheme(chance: random.Random) -> Reply:
    schemes = ("file:///etc/passwd", "gopher://127.0.0.1/", "ftp://127.0.0.1/", "data:text/html,x", "javascript:1")
    return moved(chance.choice(schemes), status=chance.choice((301, 302, 303, 307, 308)))


@exchange("redirect")
def a_redirect_with_an_endless_body(chance: random.Random) -> Reply:
    async def flood(asked: Asked) -> None:
        await asked.send(write_head("Location: /", status="302 Moved"))
        await asked.send_forever(b"<p>moved" * 500)

    return flood


@site
def a_redirect_to_itself(scene: Scene) -> None:
    path = scene.name_path()
    scene.replies[path] = moved(path)
    scene.expect(path, "redirect")
    scene.add_home(path)


@site
def a_redirect_loop(scene: Scene) -> None:
    paths = [scene.name_path() for _ in range(scene.chance.randrange(2, 6))]
    for path, target in zip(paths, [*paths[1:], paths[0]], strict=True):
        scene.replies[path] = moved(target)
        scene.expect(path, "redirect")
    scene.add_home(paths[0])


@site
def a_redirect_chain_without_end(scene: Scene) -> None:
    def lead_on(path: str) -> bytes:
        start, _, number = path.rpartition("-")
        return moved(f"{start}-{int(number) + 1}" if number.isdecimal() else "/")

    path = scene.name_path()
    first = int(path.rpartition("-")[2])
    scene.otherwise = lead_on
    scene.replies["/robots.txt"] = scene.replies["/sitemap.xml"] = respond(b"", "text/plain", status=404)
    scene.expect(path, "redirect")
    # Ten redirects are followed; the eleventh URL is not.
    scene.expect(path.replace(f"-{first}", f"-{first + 10}"), "too-many-redirects")
    scene.add_home(path)


# What happens before HTTP.


@site
def nobody_listens(scene: Scene) -> None:
    scene.connects = False
    scene.seeds.append(scene.url("/"))
    scene.expect("/", "given-up")


def greets_with(scene: Scene, data: bytes, *, then_wait: bool = False) -> None:
    """A TLS server that answers the client's first message with something else."""

    async def greet(reader: asyncio.StreamReader, asked: Asked) -> None:
        await reader.read(100)
        await asked.send(data)
        if then_wait:
            await asyncio.sleep(NEVER_S)

    scene.scheme = "https"
    scene.greet = greet
    scene.seeds.append(scene.url("/"))
    # Without its robots.txt nothing of it may be fetched.
    scene.expect("/", "given-up")


@site
def plain_text_for_tls(scene: Scene) -> None:
    greets_with(scene, respond(b"<p>plain"))


@site
def a_false_handshake(scene: Scene) -> None:
    length = scene.chance.randrange(1, 2000)
    body = scene.chance.randbytes(length)
    greets_with(scene, b"\x16\x03\x03" + length.to_bytes(2) + body)


@site
def a_handshake_that_stops(scene: Scene) -> None:
    greets_with(scene, b"\x16\x03\x03\xff", then_wait=True)


@site
def an_alert_for_tls(scene: Scene) -> None:
    greets_with(scene, b"\x15\x03\x03\x00\x02\x02" + bytes([scene.chance.randrange(256)]))
