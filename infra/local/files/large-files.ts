import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** A large object. fauxqs holds an empty object with this in its metadata. */
export interface LargeFile {
  readonly id: string;
  readonly size: number;
  /** Hex. */
  readonly md5: string;
}

/** The metadata header that holds the note. */
export const largeNote = 'x-amz-meta-large-of-basalt';

export const noteOf = ({ id, size, md5 }: LargeFile): string => `${id}.${size}.${md5}`;

export const parseNote = (note: unknown): LargeFile | undefined => {
  const [id, size, md5] = typeof note === 'string' ? note.split('.') : [];
  return id !== undefined && md5 !== undefined ? { id, size: Number(size), md5 } : undefined;
};

/**
 * The contents of objects that are too large for fauxqs, each in a file of its own. The file of a removed or replaced
 * object is deleted at the next start.
 */
export class LargeFiles {
  readonly #directory: string;
  #any = false;

  private constructor(directory: string) {
    this.#directory = directory;
  }

  /** Opens the large files in fauxqs's directory and deletes those that belong to no object. */
  static async open(directory: string): Promise<LargeFiles> {
    const files = new LargeFiles(path.join(directory, 'large'));
    await mkdir(files.#directory, { recursive: true });
    const used = new Set<string>();
    const names = await readdir(path.join(directory, 'buckets'), { recursive: true }).catch(() => []);
    for (const name of names.filter((entry) => entry.endsWith('.meta.json'))) {
      const { metadata = {} } = JSON.parse(await readFile(path.join(directory, 'buckets', name), 'utf8')) as {
        readonly metadata?: Readonly<Record<string, string>>;
      };
      const file = parseNote(metadata[largeNote.slice('x-amz-meta-'.length)]);
      if (file) used.add(file.id);
    }
    for (const id of await readdir(files.#directory)) {
      if (!used.has(id)) await rm(path.join(files.#directory, id), { force: true });
    }
    files.#any = used.size > 0;
    return files;
  }

  /** False if there are certainly none, which saves a request per object. */
  get any(): boolean {
    return this.#any;
  }

  #path(id: string): string {
    return path.join(this.#directory, id);
  }

  /** Writes a stream to a new file and returns its digests in hex. Leaves no file if the stream fails. */
  async write(content: Readable): Promise<LargeFile & { readonly sha256: string }> {
    const id = randomUUID();
    const [md5, sha256] = [createHash('md5'), createHash('sha256')];
    let size = 0;
    const digest = new Transform({
      transform: (chunk: Buffer, _encoding, done) => {
        size += chunk.length;
        md5.update(chunk);
        sha256.update(chunk);
        done(null, chunk);
      },
    });
    this.#any = true;
    try {
      await pipeline(content, digest, createWriteStream(this.#path(id)));
    } catch (error) {
      await this.remove({ id });
      throw error;
    }
    return { id, size, md5: md5.digest('hex'), sha256: sha256.digest('hex') };
  }

  /** The bytes from `start` to `end`, both included. */
  read({ id }: LargeFile, range: { readonly start: number; readonly end: number }): Readable {
    return createReadStream(this.#path(id), range);
  }

  async remove({ id }: Pick<LargeFile, 'id'>): Promise<void> {
    await rm(this.#path(id), { force: true });
  }
}
