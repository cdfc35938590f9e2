import { Agent as PlainAgent, request as plainRequest } from 'node:http';
import { Agent as TlsAgent, request as tlsRequest } from 'node:https';
import { urlToHttpOptions } from 'node:url';
import { crc32 } from 'node:zlib';
import { deadline } from '../deadline.ts';
import type { Headers } from './signature.ts';

/** How long one try may take in ms, until there is a connection and altogether. */
export interface TryLimits {
  readonly connectMs: number;
  readonly answerMs: number;
}

/** What a service answered. */
export interface ServiceAnswer {
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
