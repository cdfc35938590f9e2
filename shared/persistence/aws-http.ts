import { Agent as PlainAgent, request as plainRequest } from 'node:http';
import { Agent as TlsAgent, request as tlsRequest } from 'node:https';
import { urlToHttpOptions } from 'node:url';
import { crc32 } from 'node:zlib';
import { deadline } from '../core/retry.ts';
import { cutText } from '../core/text.ts';
import type { Headers } from './aws-client.ts';

/** How long one try may take in ms, until there is a connection and altogether. */
export interface TryLimits {
  readonly connectMs: number;
  readonly answerMs: number;
}

/** What a service answered. */
interface ServiceAnswer {
  readonly status: number;
  readonly requestId: string | undefined;
  readonly text: string;
}

/** Eight times what the largest page of a table holds. */
const maxAnswerBytes = 8 * 1024 * 1024;

/** The connections to one address, which are kept for the next request. */
export interface Connections {
  readonly host: string;
  /** Sends one request and answers once its answer is there whole; rejects with a `code` where there is none. */
  readonly post: (headers: Headers, body: string) => Promise<ServiceAnswer>;
  readonly close: () => void;
}

/** Why there is no answer; `code` is one of Node's. */
export const noAnswer = (code: string, message: string): Error => Object.assign(new Error(message), { code });

export const connectionsTo = (address: string, { connectMs, answerMs }: TryLimits): Connections => {
  const url = new URL(address);
  const isPlain = url.protocol === 'http:';
  const agent = new (isPlain ? PlainAgent : TlsAgent)({ keepAlive: true, maxSockets: 50 });
  const options = { ...urlToHttpOptions(url), path: '/', method: 'POST', agent };
  const send = isPlain ? plainRequest : tlsRequest;
  const post = (headers: Headers, body: string): Promise<ServiceAnswer> =>
    new Promise((resolve, reject) => {
      const request = send({ ...options, headers: { ...headers, 'content-length': Buffer.byteLength(body) } });
      const fail = (error: Error): void => {
        callOff();
        request.destroy();
        reject(error);
      };
      const callOff = deadline(answerMs, () => fail(noAnswer('ETIMEDOUT', `No answer within ${answerMs} ms`)));
      request.on('error', fail);
      request.on('socket', (socket) => {
        if (!socket.connecting) return;
        const late = () => fail(noAnswer('ETIMEDOUT', `No connection within ${connectMs} ms`));
        const connected = deadline(connectMs, late);
        socket.once('connect', connected).once('close', connected);
      });
      request.on('response', (response) => {
        const chunks: Buffer[] = [];
        let bytes = 0;
        response.on('error', fail).on('data', (chunk: Buffer) => {
          bytes += chunk.length;
          if (bytes > maxAnswerBytes) fail(noAnswer('EMSGSIZE', `The answer has more than ${maxAnswerBytes} bytes`));
          else chunks.push(chunk);
        });
        response.on('end', () => {
          const [first = Buffer.alloc(0), ...more] = chunks;
          const whole = more.length === 0 ? first : Buffer.concat(chunks);
          const { 'x-amz-crc32': checksum, 'x-amzn-requestid': requestId } = response.headers;
          if (checksum !== undefined && Number(checksum) !== crc32(whole)) {
            return fail(noAnswer('EBADMSG', 'The answer was damaged on its way'));
          }
          callOff();
          resolve({ status: response.statusCode ?? 0, requestId: requestId?.toString(), text: whole.toString() });
        });
      });
      request.end(body);
    });
  return { host: url.host, post, close: () => agent.destroy() };
};

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

// When a failed request is sent again, as "standard" retries of AWS are: at once for what the network lost, later for
// what was too much, and less and less often while most fail.

const tooMuch = new Set([
  'LimitExceededException',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'RequestThrottled',
  'RequestThrottledException',
  'SlowDown',
  'ThrottledException',
  'Throttling',
  'ThrottlingException',
  'TooManyRequestsException',
  'TransactionInProgressException',
]);

const lostStatus = new Set([500, 502, 503, 504]);

/** `EBADMSG` is an answer that was damaged on its way. */
const lostCode = new Set<unknown>([
  'EAI_AGAIN',
  'EBADMSG',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
]);

type Kind = 'throttled' | 'lost' | 'final';

const kindOf = (error: unknown): Kind => {
  if (!(error instanceof ServiceError)) return lostCode.has((error as { code?: unknown }).code) ? 'lost' : 'final';
  if (error.status === 429 || tooMuch.has(error.name)) return 'throttled';
  // A process that stood still between signing and sending signs anew.
  const isStale = error.name === 'InvalidSignatureException' && error.message.includes('Signature expired');
  return isStale || lostStatus.has(error.status) ? 'lost' : 'final';
};

const cost = { throttled: 5, lost: 14 } as const;
const baseMs = { throttled: 1000, lost: 25 } as const;
const fullQuota = 500;

/** What the failures of one client leave for further tries. */
export class Retries {
  readonly #maxTries: number;
  #quota = fullQuota;

  constructor(maxTries: number) {
    this.#maxTries = maxTries;
  }

  /** Milliseconds to wait before the next try, and what a success gives back; `undefined` where there is none. */
  after(error: unknown, tried: number): { readonly waitMs: number; readonly cost: number } | undefined {
    const kind = kindOf(error);
    if (kind === 'final' || tried >= this.#maxTries || this.#quota < cost[kind]) return undefined;
    this.#quota -= cost[kind];
    return { waitMs: Math.random() * baseMs[kind] * 2 ** (tried - 1), cost: cost[kind] };
  }

  /** A request succeeded: what its last retry cost comes back, or a little where it had none. */
  succeeded(spent = 1): void {
    this.#quota = Math.min(fullQuota, this.#quota + spent);
  }
}
