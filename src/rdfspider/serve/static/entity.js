// A button that opens who says so for all values at once, and no holes where images are missing. The page works without it.

const all = [...document.querySelectorAll("details.who")];
const heading = document.getElementById("said");
if (heading && all.length > 1) {
  const button = document.createElement("button");
  button.type = "button";
  button.id = "open-all";
  const tell = () => {
    button.textContent = all.every((one) => one.open) ? "Close all sources" : "Open all sources";
  };
  button.addEventListener("click", () => {
    const open = !all.every((one) => one.open);
    for (const one of all) one.open = open;
    tell();
  });
  tell();
  heading.after(button);
}

// An image that cannot be had leaves no hole; where it is a value, its address stands in its place.
for (const image of document.querySelectorAll("img.lead-image, img.picture")) {
  const hide = () => {
    if (image.closest("a")) image.replaceWith(image.src);
    else image.hidden = true;
  };
  if (image.complete && !image.naturalWidth && image.currentSrc) hide();
  else image.addEventListener("error", hide);
}
