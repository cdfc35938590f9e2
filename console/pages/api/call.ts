import { signal } from '@preact/signals';

/** Credentials that the reader has pasted. They are kept in the memory of this page only. */
export const pasted = signal<Readonly<Record<'secretKey' | 'userToken' | 'refreshToken', string>>>({
  secretKey: '',
  userToken: '',
  refreshToken: '',
});

interface Call {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

export interface Answered {
  /** `0` if the browser hides it: a redirect. */
  readonly status: number;
  readonly ms: number;
  readonly headers: string;
  readonly text: string;
  readonly code: string;
  /** Of an error. */
  readonly requestId: string;
}

const namesIn = (json: unknown): Pick<Answered, 'code' | 'requestId'> => {
  const body = (typeof json === 'object' && json !== null ? json : {}) as Readonly<Record<string, unknown>>;
  const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
  return { code: textOf(body.code), requestId: textOf(body.requestId) };
};

const readable = (text: string): Pick<Answered, 'text' | 'code' | 'requestId'> => {
  try {
    const json: unknown = JSON.parse(text);
    return { text: JSON.stringify(json, null, 2), ...namesIn(json) };
  } catch {
    return { text, code: '', requestId: '' };
  }
};

/** Sends the request as any web page would: without cookies, without following redirects, subject to CORS. */
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
