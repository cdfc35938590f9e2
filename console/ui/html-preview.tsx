import { useEffect, useRef } from 'preact/hooks';
import { inertHtml } from './inert-html.ts';

/** Emails have colours of their own and expect a white background. */
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
 * A preview of untrusted HTML. The sandboxed frame runs no scripts, submits no forms and loads nothing, and only
 * receives cleaned elements.
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
