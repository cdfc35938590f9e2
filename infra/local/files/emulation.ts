import { Agent, type IncomingHttpHeaders, type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http';
import { Readable } from 'node:stream';
import { type LargeFile, type LargeFiles, largeNote, noteOf, parseNote } from './large-files.ts';

interface EmulationRequest {
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

/** What was asked for, as it comes. */
export type Stored = Readable & { readonly statusCode?: number | undefined; readonly headers: IncomingHttpHeaders };

/** The one range that is asked for, both ends included; `undefined` for all of it. */
const rangeOf = (range: unknown, size: number): { readonly start: number; readonly end: number } | undefined => {
  const [, start = '', end = ''] = /^bytes=(\d+)-(\d*)$/.exec(String(range)) ?? [];
  if (start === '') return undefined;
  return { start: Number(start), end: Math.min(end === '' ? size : Number(end), size - 1) };
};

/** The answer of the emulation for a large file, with the size, the tag and the content that it really has. */
const largeAnswer = (
  files: LargeFiles,
  file: LargeFile,
  { method, headers = {} }: EmulationRequest,
  { [largeNote]: _note, ...found }: IncomingHttpHeaders,
): Stored => {
  const { size, md5 } = file;
  const asked = rangeOf(headers.range, size);
  const { start, end } = asked ?? { start: 0, end: size - 1 };
  const isThere = start <= end;
  const content = method === 'GET' && isThere ? files.read(file, { start, end }) : Readable.from([]);
  return Object.assign(content, {
    statusCode: isThere ? (asked ? 206 : 200) : 416,
    headers: {
      ...found,
      etag: `"${md5}"`,
      'content-length': String(isThere ? end + 1 - start : 0),
      ...(asked && { 'content-range': isThere ? `bytes ${start}-${end}/${size}` : `bytes */${size}` }),
    },
  });
};

/** The S3 emulation itself, which checks nothing and is known only to what stands in front of it. */
export class Emulation {
  readonly #port: number;
  readonly #large: LargeFiles;

  constructor(port: number, large: LargeFiles) {
    this.#port = port;
    this.#large = large;
  }

  async #largeAt(
    url: string,
  ): Promise<{ readonly file: LargeFile; readonly headers: IncomingHttpHeaders } | undefined> {
    if (!this.#large.any) return undefined;
    const answer = await this.#ask({ method: 'HEAD', url });
    answer.resume();
    const file = answer.statusCode === 200 ? parseNote(answer.headers[largeNote]) : undefined;
    return file && { file, headers: answer.headers };
  }

  /** Sends a request; resolves when the answer begins, and by then a write has been done. */
  async send(request: EmulationRequest): Promise<Stored> {
    const { method, url, headers = {} } = request;
    if (method === 'GET' || method === 'HEAD') {
      const found = await this.#largeAt(url);
      if (found) return largeAnswer(this.#large, found.file, request, found.headers);
    }
    const { 'x-amz-copy-source': source } = headers;
    const copied = typeof source === 'string' ? await this.#largeAt(source.replace(/^\/?/, '/')) : undefined;
    return this.#ask(
      copied === undefined ? request : { ...request, headers: { ...headers, [largeNote]: noteOf(copied.file) } },
    );
  }

  /** Writes an object that is larger than the emulation takes: its content to a file, and to the emulation a note. */
  async sendLarge({ headers, ...request }: EmulationRequest, file: LargeFile): Promise<Stored> {
    const { 'content-length': _length, 'content-md5': _md5, ...kept } = headers ?? {};
    const answer: Stored = await this.#ask({
      ...request,
      headers: { ...kept, [largeNote]: noteOf(file) },
      body: Buffer.alloc(0),
    });
    return Object.assign(answer, { headers: { ...answer.headers, etag: `"${file.md5}"` } });
  }

  #ask({ method, url, headers = {}, body }: EmulationRequest): Promise<IncomingMessage> {
    const isNew = method === 'PUT' || (method === 'POST' && /\?uploads(?:[=&]|$)/.test(url));
    return new Promise((resolve, reject) => {
      const length = body === undefined ? {} : { 'content-length': body.length };
      const all = { ...(isNew ? noteType(headers) : headers), ...length, host: `127.0.0.1:${this.#port}` };
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
