/** HTML of somebody else as elements that do nothing, with the styles that were written at them. */
interface Inert {
  readonly nodes: readonly Node[];
  readonly sheets: readonly string[];
  readonly styles: ReadonlyMap<HTMLElement, string>;
}

/** What could run, load, send or lead away: nothing of it belongs into a picture of a page. */
const unwanted = 'script, style, link, meta, base, iframe, frame, object, embed, template, noscript';
const withAddress = ['src', 'srcset', 'href', 'action', 'formaction', 'background', 'poster', 'xlink:href', 'ping'];

const shownAddress = /^(?:data:image\/(?:png|jpeg|gif|webp);|#)/i;

interface Rules {
  createHTML(html: string): string;
}

/** What browsers have that hold pages to Trusted Types. */
interface TrustedTypes {
  createPolicy(name: string, rules: Rules): Rules;
}

/** The browser parses into a document that shows and runs nothing; only what is cleaned of it is ever shown. */
const policy = (window as Window & { readonly trustedTypes?: TrustedTypes }).trustedTypes?.createPolicy('inert-html', {
  createHTML: (html) => html,
});

/** Styles load nothing: no `@import`, no `url(…)`. */
const inertStyle = (css: string): string => css.replace(/@import[^;]*;?/gi, '').replace(/url\([^)]*\)?/gi, 'none');

const clean = (element: Element): void => {
  for (const { name, value } of [...element.attributes]) {
    const isAddress = withAddress.includes(name.toLowerCase());
    if (/^(?:on|style$)/i.test(name) || (isAddress && !shownAddress.test(value))) element.removeAttribute(name);
  }
};

const sheet = /<style\b[^>]*>([\s\S]*?)(?:<\/style\s*>|$)/gi;
const heldStyle = 'data-held-style';

/** The policy of the page has each inline style reported as soon as it is parsed: they are held apart before. */
const withoutStyles = (html: string): string =>
  html
    .replace(sheet, '')
    .replace(/<[a-z][^>]*>/gi, (tag) =>
      tag.replace(/(?<=[\s/"'])(?:style|(on\w+))(?=\s*=)/gi, (_, handler) => (handler ? 'data-held' : heldStyle)),
    );

/** Takes HTML apart without running, loading or styling anything of it. */
export const inertHtml = (html: string): Inert => {
  const held = withoutStyles(html);
  const parsed = new DOMParser().parseFromString(policy?.createHTML(held) ?? held, 'text/html');
  for (const element of parsed.querySelectorAll(unwanted)) element.remove();
  const styles = new Map<HTMLElement, string>();
  for (const element of parsed.body.querySelectorAll<HTMLElement>('*')) {
    clean(element);
    const style = element.getAttribute(heldStyle);
    if (style !== null) styles.set(element, inertStyle(style));
  }
  const sheets = [...html.matchAll(sheet)].map(([, css = '']) => inertStyle(css));
  return { nodes: [...parsed.body.childNodes], sheets, styles };
};
