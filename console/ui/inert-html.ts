/** Untrusted HTML as inert elements, with its inline styles apart. */
interface Inert {
  readonly nodes: readonly Node[];
  readonly sheets: readonly string[];
  readonly styles: ReadonlyMap<HTMLElement, string>;
}

/** Everything that could run, load, send or navigate. */
const unwanted = 'script, style, link, meta, base, iframe, frame, object, embed, template, noscript';
const withAddress = ['src', 'srcset', 'href', 'action', 'formaction', 'background', 'poster', 'xlink:href', 'ping'];

const shownAddress = /^(?:data:image\/(?:png|jpeg|gif|webp);|#)/i;

interface Rules {
  createHTML(html: string): string;
}

/** The Trusted Types API, in browsers that have it. */
interface TrustedTypes {
  createPolicy(name: string, rules: Rules): Rules;
}

/** The browser parses into a document that neither shows nor runs anything. Only cleaned elements are shown. */
const policy = (window as Window & { readonly trustedTypes?: TrustedTypes }).trustedTypes?.createPolicy('inert-html', {
  createHTML: (html) => html,
});

/** Removes `@import` and `url(…)`, so that styles load nothing. */
const inertStyle = (css: string): string => css.replace(/@import[^;]*;?/gi, '').replace(/url\([^)]*\)?/gi, 'none');

const clean = (element: Element): void => {
  for (const { name, value } of [...element.attributes]) {
    const isAddress = withAddress.includes(name.toLowerCase());
    if (/^(?:on|style$)/i.test(name) || (isAddress && !shownAddress.test(value))) element.removeAttribute(name);
  }
};

const sheet = /<style\b[^>]*>([\s\S]*?)(?:<\/style\s*>|$)/gi;
const heldStyle = 'data-held-style';

/** The page's content security policy reports inline styles as soon as they are parsed, so they are separated first. */
const withoutStyles = (html: string): string =>
  html
    .replace(sheet, '')
    .replace(/<[a-z][^>]*>/gi, (tag) =>
      tag.replace(/(?<=[\s/"'])(?:style|(on\w+))(?=\s*=)/gi, (_, handler) => (handler ? 'data-held' : heldStyle)),
    );

/** Parses HTML without running, loading or styling anything. */
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
