import type { IncomingMessage } from 'node:http';

/** API Gateway's limit. */
const maxBytes = 10 * 1024 * 1024;

/**
 * Reads a request's body and calls `done` one time: with `undefined` if there is no body, with `'too large'` as soon as
 * it exceeds 10 MB. Does not call it if the client disconnects.
 */
export const receiveBody = (request: IncomingMessage, done: (body: Buffer | undefined | 'too large') => void): void => {
  const { 'content-length': declared, 'transfer-encoding': encoding } = request.headers;
  if (encoding === undefined && (declared === undefined || declared === '0')) {
    done(undefined);
    return;
  }
  if (Number(declared) > maxBytes) {
    done('too large');
    return;
  }
  let first: Buffer | undefined;
  let rest: Buffer[] | undefined;
  let bytes = 0;
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > maxBytes) {
      request.removeAllListeners('data').removeAllListeners('end').resume();
      done('too large');
      return;
    }
    if (first === undefined) first = chunk;
    else if (rest === undefined) rest = [first, chunk];
    else rest.push(chunk);
  });
  request.on('end', () => done(rest ? Buffer.concat(rest) : first));
};
