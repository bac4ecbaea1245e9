// Of the inspector: what an address in this page leads to is opened, where it was folded. Everything works without it.

const open = () => {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const folded = target?.closest("details") ?? target?.querySelector("details");
  if (folded) folded.open = true;
};

addEventListener("hashchange", open);
open();
