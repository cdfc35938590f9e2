import { cutText } from '../../core/bounded-text.ts';
import type { ServiceAnswer } from './post.ts';

const objectIn = (text: string): Readonly<Record<string, unknown>> => {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
};

/** What a service of AWS refused: `name` is its code, such as `ThrottlingException`, and `answer` all that it said. */
export class ServiceError extends Error {
  override readonly name: string;
  readonly status: number;
  readonly answer: Readonly<Record<string, unknown>>;

  constructor(operation: string, { status, requestId, text }: ServiceAnswer) {
    const answer = objectIn(text);
    // What follows the first line quotes the request, credentials included.
    const [said] = String(answer.message ?? answer.Message ?? '').split('\n', 1);
    super(`${operation}, ${status}, ${requestId}: ${cutText(said ?? '', 300)}`);
    this.name = /[^#:]+(?=:|$)/.exec(String(answer.__type ?? ''))?.[0] ?? 'ServiceError';
    this.status = status;
    this.answer = answer;
  }
}
