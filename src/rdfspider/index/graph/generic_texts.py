"""Anchor texts that would do for any page, in the languages of most pages: they say nothing of the page to which they lead."""

GENERIC_TEXTS = frozenset(
    text.strip()
    for text in """
a, about, article, blog, click, click here, continue, continue reading, details, download, external link, find out more,
full story, go, here, home, home page, homepage, info, information, learn more, link, links, more, more info, more information,
next, official site, official website, open, original, page, previous, read, read more, see, see more, site, source, the, this,
this article, this link, this page, this site, view, view more, visit, visit site, visit website, web, web site, webpage, website,
artikel, hier, hier klicken, klick, klicken sie hier, lesen, mehr, mehr dazu, mehr erfahren, mehr infos, offizielle website,
quelle, seite, startseite, webseite, weiter, weiterlesen, weitere informationen, zur website,
accueil, cliquez ici, en savoir plus, ici, la suite, lien, lire, lire la suite, plus, site officiel, site web, suite, voir,
articulo, aqui, enlace, fuente, haga clic aqui, inicio, leer mas, mas, mas informacion, pagina, pagina web, sitio,
sitio oficial, sitio web, ver, ver mas,
articolo, clicca qui, continua, fonte, leggi, leggi tutto, qui, sito, sito ufficiale, sito web, vai, vedi,
bron, klik hier, lees meer, lees verder, meer, meer informatie,
artigo, clique aqui, leia mais, mais, saiba mais, site oficial, ver mais,
czytaj wiecej, kliknij tutaj, strona, tutaj, wiecej, zobacz, zrodlo,
главная, далее, здесь, источник, официальный сайт, подробнее, сайт, ссылка, тут, читать далее,
こちら, ここ, クリック, サイト, ホーム, リンク, 公式サイト, 詳細, 詳しくはこちら, 続きを読む,
点击这里, 点击, 更多, 了解更多, 官网, 官方网站, 链接, 首页, 查看, 阅读更多, 더보기, 여기, 홈페이지, 홈
""".split(",")
)
"""In the form of `anchor_votes.fold_text`."""
