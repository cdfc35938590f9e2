import { Agent, type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http';

export interface EmulationRequest {
  readonly method: string;
  /** Path and question, percent-encoded. */
  readonly url: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: Buffer | undefined;
}

/** Bodies of such a type the emulation takes as they are; others it reads as forms or messages, or refuses. */
const plainType = /^(?:(?:image|audio|video|font)\/[a-z0-9.+-]+|text\/[a-z]+|application\/(?:octet-stream|pdf))$/i;

const typeNote = 'x-amz-meta-content-type-of-basalt';

/** An object of any other type is stored as bytes, with a note of its type, which S3 keeps to the letter. */
const noteType = (headers: OutgoingHttpHeaders): OutgoingHttpHeaders => {
  const type = String(headers['content-type'] ?? 'binary/octet-stream');
  if (plainType.test(type)) return headers;
  return {
    ...headers,
    'content-type': 'application/octet-stream',
    [typeNote]: Buffer.from(type).toString('base64url'),
  };
};

const showNotedType = (answer: IncomingMessage): IncomingMessage => {
  const { [typeNote]: note, ...headers } = answer.headers;
  if (typeof note === 'string')
    answer.headers = { ...headers, 'content-type': Buffer.from(note, 'base64url').toString() };
  return answer;
};

const agent = new Agent({ keepAlive: true });

/** The S3 emulation itself, which checks nothing and is known only to what stands in front of it. */
export class Emulation {
  readonly #port: number;

  constructor(port: number) {
    this.#port = port;
  }

  /** Sends a request; resolves when the answer begins, and by then a write has been done. */
  send({ method, url, headers = {}, body }: EmulationRequest): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const length = body === undefined ? {} : { 'content-length': body.length };
      const all = { ...(method === 'PUT' ? noteType(headers) : headers), ...length, host: `127.0.0.1:${this.#port}` };
      request({ host: '127.0.0.1', port: this.#port, method, path: url, headers: all, agent })
        .on('response', (answer) => resolve(showNotedType(answer)))
        .on('error', reject)
        .end(body);
    });
  }

  /** The headers of an object; `undefined` where there is none. */
  async head(path: string): Promise<IncomingMessage['headers'] | undefined> {
    const answer = await this.send({ method: 'HEAD', url: path });
    answer.resume();
    return answer.statusCode === 200 ? answer.headers : undefined;
  }

  /** Makes a bucket where it is missing. */
  async createBucket(name: string): Promise<void> {
    const answer = await this.send({ method: 'PUT', url: `/${name}` });
    answer.resume();
    if (answer.statusCode !== 200 && answer.statusCode !== 409) throw new Error(`The bucket ${name} cannot be made`);
  }
}
