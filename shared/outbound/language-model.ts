import { assistantSettings } from '../core/config.ts';
import { settingText } from '../persistence/secrets.ts';
import { TooLarge, trustedRequest } from './http.ts';

/** More than any schema needs. */
const maxAnswerBytes = 256 * 1024;

export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

type ChatOutcome =
  | { readonly kind: 'answered'; readonly content: string }
  /** A response without text. */
  | { readonly kind: 'unusable'; readonly reason: string }
  /** The endpoint is down, too slow, or returns an error. */
  | { readonly kind: 'unavailable'; readonly reason: string };

const unavailable = (reason: string): ChatOutcome => ({ kind: 'unavailable', reason });
const unusable = (reason: string): ChatOutcome => ({ kind: 'unusable', reason });

export const hasLanguageModel = (): boolean => Boolean(assistantSettings().AI_BASE_URL);

const keyOf = async (): Promise<string> => {
  const { AI_API_KEY, AI_SECRET_ARN } = assistantSettings();
  return (await settingText(AI_API_KEY, AI_SECRET_ARN)).trim();
};

const post = async (messages: readonly ChatMessage[], signal: AbortSignal) => {
  const { AI_BASE_URL = '', AI_MODEL } = assistantSettings();
  const key = await keyOf();
  return trustedRequest(`${AI_BASE_URL.replace(/\/+$/, '')}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(key ? { authorization: `Bearer ${key}` } : {}) },
    body: JSON.stringify({ model: AI_MODEL, messages, response_format: { type: 'json_object' } }),
    maxBytes: maxAnswerBytes,
    signal,
  });
};

/** The model's text, at `choices.0.message.content`; the response may have any shape. */
const contentOf = (answer: unknown): unknown => {
  let value = answer;
  for (const key of ['choices', '0', 'message', 'content']) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[key];
  }
  return value;
};

const outcomeOf = (text: string): ChatOutcome => {
  try {
    const content = contentOf(JSON.parse(text));
    return typeof content === 'string' && content !== ''
      ? { kind: 'answered', content }
      : unusable('The response contains no text');
  } catch {
    return unusable('The response is not JSON');
  }
};

/**
 * Asks the configured language model, any endpoint with OpenAI's `chat/completions`, for a JSON object. Never throws
 * for a failure of the endpoint or the network; the caller limits the time with `signal`.
 */
export const askLanguageModel = async (messages: readonly ChatMessage[], signal: AbortSignal): Promise<ChatOutcome> => {
  try {
    const { status, text } = await post(messages, signal);
    return status >= 200 && status < 300 ? outcomeOf(text) : unavailable(`The language model returned ${status}`);
  } catch (error) {
    if (error instanceof TooLarge) return unusable('The response is too long');
    if (signal.aborted) return unavailable('The language model did not respond in time');
    // Only the name: the message about a wrong header would quote the key.
    return unavailable(`The language model cannot be reached: ${error instanceof Error ? error.name : 'unknown'}`);
  }
};
