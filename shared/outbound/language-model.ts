import { assistantSettings } from '../core/config.ts';
import { boundedText } from '../core/text.ts';
import { settingText } from '../persistence/secrets.ts';

/** More than any schema needs; what is longer is not read to its end. */
const maxAnswerBytes = 256 * 1024;

export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

type ChatOutcome =
  | { readonly kind: 'answered'; readonly content: string }
  /** An answer that holds no text. */
  | { readonly kind: 'unusable'; readonly reason: string }
  /** No answer at all: the endpoint is down, too slow, or refuses. */
  | { readonly kind: 'unavailable'; readonly reason: string };

const unavailable = (reason: string): ChatOutcome => ({ kind: 'unavailable', reason });
const unusable = (reason: string): ChatOutcome => ({ kind: 'unusable', reason });

export const hasLanguageModel = (): boolean => Boolean(assistantSettings().AI_BASE_URL);

const keyOf = async (): Promise<string> => {
  const { AI_API_KEY, AI_SECRET_ARN } = assistantSettings();
  return (await settingText(AI_API_KEY, AI_SECRET_ARN)).trim();
};

const post = async (messages: readonly ChatMessage[], signal: AbortSignal): Promise<Response> => {
  const { AI_BASE_URL = '', AI_MODEL } = assistantSettings();
  const key = await keyOf();
  return fetch(`${AI_BASE_URL.replace(/\/+$/, '')}/chat/completions`, {
    method: 'POST',
    redirect: 'error',
    headers: { 'content-type': 'application/json', ...(key ? { authorization: `Bearer ${key}` } : {}) },
    body: JSON.stringify({ model: AI_MODEL, messages, response_format: { type: 'json_object' } }),
    signal,
  });
};

/** What the model said; only own properties are followed, and nothing is taken to have any shape. */
const contentOf = (answer: unknown): unknown => {
  let value = answer;
  for (const key of ['choices', '0', 'message', 'content']) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[key];
  }
  return value;
};

const read = (text: string | undefined): ChatOutcome => {
  if (text === undefined) return unusable('The answer is too long');
  try {
    const content = contentOf(JSON.parse(text));
    return typeof content === 'string' && content !== ''
      ? { kind: 'answered', content }
      : unusable('The answer holds no text');
  } catch {
    return unusable('The answer is not JSON');
  }
};

/**
 * Asks the configured language model (any endpoint that speaks OpenAI's `chat/completions`) for a JSON object; without
 * tools. Never throws for what the endpoint or the network does; the caller bounds the time by `signal`.
 */
export const askLanguageModel = async (messages: readonly ChatMessage[], signal: AbortSignal): Promise<ChatOutcome> => {
  try {
    const response = await post(messages, signal);
    if (!response.ok) {
      await response.body?.cancel();
      return unavailable(`The language model answered ${response.status}`);
    }
    return read(await boundedText(response.body, maxAnswerBytes));
  } catch (error) {
    if (signal.aborted) return unavailable('The language model did not answer in time');
    // Only the name: the message of a refused header would quote the key.
    return unavailable(`The language model cannot be reached: ${error instanceof Error ? error.name : 'unknown'}`);
  }
};
