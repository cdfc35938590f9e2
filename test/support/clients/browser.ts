/** A response as a browser shows it. */
export interface Page {
  readonly url: string;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** A browser that stores cookies by origin and path, and follows no redirects automatically. */
export class Browser {
  readonly #cookies = new Map<string, { readonly origin: string; readonly path: string; readonly pair: string }>();

  async open(url: string, form?: URLSearchParams, headers: Readonly<Record<string, string>> = {}): Promise<Page> {
    const { origin, pathname } = new URL(url);
    const cookie = [...this.#cookies.values()]
      .filter((entry) => entry.origin === origin && pathname.startsWith(entry.path))
      .map(({ pair }) => pair)
      .join('; ');
    const response = await fetch(url, {
      redirect: 'manual',
      headers: cookie === '' ? headers : { ...headers, cookie },
      ...(form ? { method: 'POST', body: form } : {}),
    });
    for (const text of response.headers.getSetCookie()) this.#keep(origin, text);
    return { url, status: response.status, headers: response.headers, text: await response.text() };
  }

  #keep(origin: string, text: string): void {
    const [pair = '', ...attributes] = text.split('; ');
    const path = attributes.find((attribute) => attribute.startsWith('Path='))?.slice(5) ?? '/';
    const key = `${origin} ${path} ${pair.split('=')[0]}`;
    if (attributes.includes('Max-Age=0')) this.#cookies.delete(key);
    else this.#cookies.set(key, { origin, path, pair });
  }

  /** The names of the stored cookies of an address. */
  cookieNames(address: string): string[] {
    const { origin } = new URL(address);
    return [...this.#cookies.values()].flatMap((entry) =>
      entry.origin === origin ? [entry.pair.split('=')[0] ?? ''] : [],
    );
  }
}

/** The address of a redirect. */
export const target = ({ status, headers, text }: Page): URL => {
  const location = headers.get('location');
  if ((status !== 302 && status !== 303) || location === null)
    throw new Error(`No redirect but ${status}: ${text.slice(0, 300)}`);
  return new URL(location);
};

const unescaped = (text: string): string =>
  text.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&lt;', '<').replaceAll('&amp;', '&');

/** A page's form with a hidden field of this value: its address and its fields. */
export const formWith = (
  { url, text }: Page,
  value: string,
): { readonly action: string; readonly form: URLSearchParams } => {
  for (const [, action = '', content = ''] of text.matchAll(/<form[^>]* action="([^"]*)"[^>]*>(.*?)<\/form>/gs)) {
    const fields = [...content.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)].map(
      ([, name = '', sent = '']): [string, string] => [unescaped(name), unescaped(sent)],
    );
    if (fields.some(([, sent]) => sent === value)) {
      return { action: new URL(unescaped(action), url).href, form: new URLSearchParams(fields) };
    }
  }
  throw new Error(`The page has no form for ${value}: ${text.slice(0, 300)}`);
};
