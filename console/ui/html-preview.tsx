import { useEffect, useRef } from 'preact/hooks';
import { inertHtml } from './inert-html.ts';

/** Mails have colours of their own and expect white paper below. */
const paper = 'html { color-scheme: light; background: white; } body { font: 14px/1.5 sans-serif; color: black; }';

const show = (frame: HTMLIFrameElement, html: string): void => {
  const page = frame.contentDocument;
  const Sheet = frame.contentWindow && (frame.contentWindow as Window & typeof globalThis).CSSStyleSheet;
  if (!page || !Sheet) return;
  const { nodes, sheets, styles } = inertHtml(html);
  page.body.replaceChildren(...nodes);
  page.adoptedStyleSheets = [paper, ...sheets].map((css) => {
    const sheet = new Sheet();
    sheet.replaceSync(css);
    return sheet;
  });
  for (const [element, css] of styles) element.style.cssText = css;
};

/**
 * How HTML of somebody else looks. The frame runs no script, sends no form and loads nothing, whatever is in it: it is
 * sandboxed, under the policy of this page, and filled with elements from which all of that was taken.
 */
export const HtmlPreview = ({ title, html }: { readonly title: string; readonly html: string }) => {
  const frame = useRef<HTMLIFrameElement>(null);
  useEffect(() => {
    const { current } = frame;
    if (!current) return undefined;
    const fill = () => show(current, html);
    fill();
    current.addEventListener('load', fill);
    return () => current.removeEventListener('load', fill);
  }, [html]);
  return <iframe ref={frame} class="preview" title={title} sandbox="allow-same-origin" />;
};
