import { boundedText } from '../../core/bounded-text.ts';
import { providerLimits } from '../../projects/social/provider-rules.ts';

const { limitMs, maxBytes } = providerLimits;

interface ProviderRequest {
  readonly method?: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: URLSearchParams;
}

export interface ProviderAnswer {
  readonly status: number;
  readonly text: string;
}

/** One request to a provider: at most 5 s and 256 KiB, redirects not followed. No such answer → rejects. */
export const askProvider = async (url: string, request: ProviderRequest): Promise<ProviderAnswer> => {
  const response = await fetch(url, { ...request, redirect: 'error', signal: AbortSignal.timeout(limitMs) });
  const text = await boundedText(response.body, maxBytes);
  if (text === undefined) throw new Error(`The answer is larger than ${maxBytes} bytes`);
  return { status: response.status, text };
};

/** The parser's own message would quote the answer, which may hold a token, into the log. */
export const jsonIn = ({ text }: ProviderAnswer): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error('The answer is not JSON');
  }
};
