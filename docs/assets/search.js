// The search takes a minus for "without"; who types --sensitivity means the option.
document.addEventListener(
  "input",
  ({ target }) => {
    if (!target.matches("[data-md-component=search-query]")) return;
    const words = target.value.replace(/(^|\s)-+(?=[^\s-])/g, "$1");
    if (words !== target.value) target.value = words;
  },
  true,
);
