import { readdir, readFile, stat } from 'node:fs/promises';
import { Agent, type IncomingHttpHeaders, type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http';
import path from 'node:path';
import { Readable } from 'node:stream';
import { type LargeFile, type LargeFiles, largeNote, noteOf, parseNote } from './large-files.ts';
import { S3Error, type S3Target } from './s3-request.ts';

const read = async <T>(file: string): Promise<T> => JSON.parse(await readFile(file, 'utf8')) as T;

const partEnding = '.meta.json';

const partXml = async (folder: string, number: number): Promise<string> => {
  const { etag, lastModified } = await read<{ readonly etag: string; readonly lastModified: string }>(
    path.join(folder, `${number}${partEnding}`),
  );
  const { size } = await stat(path.join(folder, `${number}.data`));
  const tag = etag.replaceAll('"', '&quot;');
  return `<Part><PartNumber>${number}</PartNumber><LastModified>${lastModified}</LastModified><ETag>${tag}</ETag><Size>${size}</Size></Part>`;
};

/** fauxqs's folder of a multipart upload. Throws `S3Error` if the upload does not exist or has another key. */
const folderOf = async (directory: string, uploadId: string, target: S3Target): Promise<string> => {
  const folder = path.join(directory, '_multipart', path.basename(uploadId));
  const upload = await read<{ readonly bucket: string; readonly key: string }>(path.join(folder, '.upload.json')).catch(
    () => undefined,
  );
  if (!upload || `/${upload.bucket}/${upload.key}` !== decodeURIComponent(target.path)) {
    throw new S3Error('NoSuchUpload');
  }
  return path.join(folder, 'parts');
};

/** Lists the parts of an upload (`GET /bucket/key?uploadId=`), which fauxqs does not support. */
export const listParts = async (directory: string, target: S3Target): Promise<Stored> => {
  const { query } = target;
  const folder = await folderOf(directory, query.get('uploadId') ?? '', target);
  const after = Number(query.get('part-number-marker') ?? 0);
  const most = Math.min(Number(query.get('max-parts') ?? 1000), 1000);
  const files = (await readdir(folder)).filter((name) => name.endsWith(partEnding));
  const numbers = files.map((name) => Number.parseInt(name, 10)).filter((number) => number > after);
  const page = numbers.sort((a, b) => a - b).slice(0, most);
  const parts = await Promise.all(page.map((number) => partXml(folder, number)));
  const xml = `<?xml version="1.0" encoding="UTF-8"?>
<ListPartsResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><IsTruncated>${page.length < numbers.length}</IsTruncated><NextPartNumberMarker>${page.at(-1) ?? after}</NextPartNumberMarker>${parts.join('')}</ListPartsResult>`;
  return Object.assign(Readable.from([xml]), {
    statusCode: 200,
    headers: { 'content-type': 'application/xml', 'content-length': String(Buffer.byteLength(xml)) },
  });
};

interface EmulationRequest {
  readonly method: string;
  /** Path and query, percent-encoded. */
  readonly url: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: Buffer | undefined;
}

/** fauxqs stores bodies of these types unchanged. It parses or rejects others, such as forms and JSON. */
const plainType = /^(?:(?:image|audio|video|font)\/[a-z0-9.+-]+|text\/[a-z]+|application\/(?:octet-stream|pdf))$/i;

const typeNote = 'x-amz-meta-content-type-of-basalt';

/** Stores an object of any other type as plain bytes, with its type in the metadata. */
const noteType = (headers: OutgoingHttpHeaders): OutgoingHttpHeaders => {
  const type = String(headers['content-type'] ?? 'binary/octet-stream');
  if (plainType.test(type)) return headers;
  return {
    ...headers,
    'content-type': 'application/octet-stream',
    [typeNote]: Buffer.from(type).toString('base64url'),
  };
};

const restoreType = (response: IncomingMessage): IncomingMessage => {
  const { [typeNote]: note, ...headers } = response.headers;
  if (typeof note === 'string')
    response.headers = { ...headers, 'content-type': Buffer.from(note, 'base64url').toString() };
  return response;
};

const agent = new Agent({ keepAlive: true });

/** A response whose body is still being received. */
export type Stored = Readable & { readonly statusCode?: number | undefined; readonly headers: IncomingHttpHeaders };

/** The requested range, both ends included; `undefined` for the complete object. */
const rangeOf = (range: unknown, size: number): { readonly start: number; readonly end: number } | undefined => {
  const [, start = '', end = ''] = /^bytes=(\d+)-(\d*)$/.exec(String(range)) ?? [];
  if (start === '') return undefined;
  return { start: Number(start), end: Math.min(end === '' ? size : Number(end), size - 1) };
};

/** The response for a large file: fauxqs's headers with the real size, ETag and content. */
const largeResponse = (
  files: LargeFiles,
  file: LargeFile,
  { method, headers = {} }: EmulationRequest,
  { [largeNote]: _note, ...found }: IncomingHttpHeaders,
): Stored => {
  const { size, md5 } = file;
  const range = rangeOf(headers.range, size);
  const { start, end } = range ?? { start: 0, end: size - 1 };
  const exists = start <= end;
  const content = method === 'GET' && exists ? files.read(file, { start, end }) : Readable.from([]);
  return Object.assign(content, {
    statusCode: exists ? (range ? 206 : 200) : 416,
    headers: {
      ...found,
      etag: `"${md5}"`,
      'content-length': String(exists ? end + 1 - start : 0),
      ...(range && { 'content-range': exists ? `bytes ${start}-${end}/${size}` : `bytes */${size}` }),
    },
  });
};

/** fauxqs's S3, plus objects of any size and type. It checks no signatures; only the servers in front of it call it. */
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
    const response = await this.#request({ method: 'HEAD', url });
    response.resume();
    const file = response.statusCode === 200 ? parseNote(response.headers[largeNote]) : undefined;
    return file && { file, headers: response.headers };
  }

  /** Sends a request. Resolves when the response begins; a write is complete by then. */
  async send(request: EmulationRequest): Promise<Stored> {
    const { method, url, headers = {} } = request;
    if (method === 'GET' || method === 'HEAD') {
      const found = await this.#largeAt(url);
      if (found) return largeResponse(this.#large, found.file, request, found.headers);
    }
    const { 'x-amz-copy-source': source } = headers;
    const copied = typeof source === 'string' ? await this.#largeAt(source.replace(/^\/?/, '/')) : undefined;
    return this.#request(
      copied === undefined ? request : { ...request, headers: { ...headers, [largeNote]: noteOf(copied.file) } },
    );
  }

  /** Stores an object that is too large for fauxqs: an empty object with a note that names the file. */
  async sendLarge({ headers, ...request }: EmulationRequest, file: LargeFile): Promise<Stored> {
    const { 'content-length': _length, 'content-md5': _md5, ...kept } = headers ?? {};
    const response: Stored = await this.#request({
      ...request,
      headers: { ...kept, [largeNote]: noteOf(file) },
      body: Buffer.alloc(0),
    });
    return Object.assign(response, { headers: { ...response.headers, etag: `"${file.md5}"` } });
  }

  #request({ method, url, headers = {}, body }: EmulationRequest): Promise<IncomingMessage> {
    const isNew = method === 'PUT' || (method === 'POST' && /\?uploads(?:[=&]|$)/.test(url));
    return new Promise((resolve, reject) => {
      const length = body === undefined ? {} : { 'content-length': body.length };
      const all = { ...(isNew ? noteType(headers) : headers), ...length, host: `127.0.0.1:${this.#port}` };
      request({ host: '127.0.0.1', port: this.#port, method, path: url, headers: all, agent })
        .on('response', (response) => resolve(restoreType(response)))
        .on('error', reject)
        .end(body);
    });
  }

  /** The headers of an object; `undefined` if it does not exist. */
  async head(path: string): Promise<IncomingMessage['headers'] | undefined> {
    const response = await this.send({ method: 'HEAD', url: path });
    response.resume();
    return response.statusCode === 200 ? response.headers : undefined;
  }

  /** Creates a bucket if it is missing. */
  async createBucket(name: string): Promise<void> {
    const response = await this.send({ method: 'PUT', url: `/${name}` });
    response.resume();
    if (response.statusCode === 200 || response.statusCode === 409) return;
    throw new Error(`The bucket ${name} could not be created`);
  }
}
