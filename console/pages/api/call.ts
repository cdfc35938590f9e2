import { signal } from '@preact/signals';

/** What the reader has pasted to call with, in the memory of this page alone, and gone with it. */
export const pasted = signal<{ readonly secretKey: string; readonly userToken: string }>({
  secretKey: '',
  userToken: '',
});

/** A request as it stands in the form. */
export interface Call {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** What came back, as text. */
export interface Answered {
  /** `0` where the browser hides it: a redirect. */
  readonly status: number;
  readonly ms: number;
  readonly headers: string;
  readonly text: string;
  readonly code: string;
}

const codeOf = (json: unknown): string => {
  const { code } = (typeof json === 'object' && json !== null ? json : {}) as { readonly code?: unknown };
  return typeof code === 'string' ? code : '';
};

const readable = (text: string): { readonly text: string; readonly code: string } => {
  try {
    const json: unknown = JSON.parse(text);
    return { text: JSON.stringify(json, null, 2), code: codeOf(json) };
  } catch {
    return { text, code: '' };
  }
};

/** Sends it as a page of anybody's would: without cookies, after no redirect, as far as CORS lets it. */
export const sendCall = async ({ method, url, headers, body }: Call): Promise<Answered> => {
  const begun = performance.now();
  const answer = await fetch(url, {
    method,
    headers,
    credentials: 'omit',
    redirect: 'manual',
    ...(body === undefined ? {} : { body }),
  });
  const text = await answer.text();
  return {
    status: answer.status,
    ms: Math.round(performance.now() - begun),
    headers: [...answer.headers].map(([name, value]) => `${name}: ${value}`).join('\n'),
    ...readable(text),
  };
};
