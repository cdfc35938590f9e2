import { boundedText } from '../../core/bounded-text.ts';

/** Timeout of one request; a sign-in makes two in a row, well within the function's own limit. */
const limitMs = 5000;
const maxBytes = 256 * 1024;

/** The parser's own message would quote the answer, which may hold a token, into the log. */
const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error('The answer is not JSON');
  }
};

/** Status and parsed JSON body of a response. */
export interface ProviderAnswer {
  readonly status: number;
  readonly body: unknown;
}

/**
 * One request to a provider: at most 5 s and 256 KiB, redirects not followed. Rejects where there is no such answer, or
 * it is not JSON; the status is the caller's to judge.
 */
export const askProvider = async (url: string, init: RequestInit): Promise<ProviderAnswer> => {
  const response = await fetch(url, { ...init, redirect: 'error', signal: AbortSignal.timeout(limitMs) });
  const text = await boundedText(response, maxBytes);
  if (text === undefined) throw new Error(`The answer is larger than ${maxBytes} bytes`);
  return { status: response.status, body: parse(text) };
};
