// A button that opens who says so for all values at once. The page works without it.

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
