import { createReadStream } from 'node:fs';
import { open, rename, rm, stat } from 'node:fs/promises';
import { basename, extname, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import type { Dashboard } from './dashboard.ts';
import { openProject, type Place } from './linked-project.ts';
import { CommandError, type Terminal } from './terminal.ts';

interface TransferOptions extends Place {
  readonly json?: boolean | undefined;
  readonly format?: string | undefined;
}

interface ImportOptions extends TransferOptions {
  readonly 'keep-ids'?: boolean | undefined;
  readonly 'on-conflict'?: string | undefined;
}

interface ExportOptions extends TransferOptions {
  readonly where?: string | undefined;
  readonly 'include-deleted'?: boolean | undefined;
}

interface TransferRecord {
  readonly _id: string;
  readonly state: string;
  readonly failure: string | null;
}

interface ImportRecord extends TransferRecord {
  readonly signedUrl: string | null;
  readonly contentType: string;
  readonly inserted: number;
  readonly rejected: number;
  readonly skipped: number;
  readonly size: number | null;
  readonly bytes: number;
  readonly errors: readonly { readonly line: number; readonly field: string; readonly message: string }[];
}

interface ExportRecord extends TransferRecord {
  readonly count: number;
  readonly url: string | null;
}

const extensions: Readonly<Record<string, string>> = {
  '.csv': 'csv',
  '.ndjson': 'ndjson',
  '.jsonl': 'ndjson',
  '.json': 'json',
};

const formatOf = (file: string | undefined, format: string | undefined): string => {
  if (format !== undefined) {
    if (Object.values(extensions).includes(format)) return format;
    throw new CommandError('--format must be csv, ndjson or json.');
  }
  if (file === undefined) return 'ndjson';
  const found = extensions[extname(file).toLowerCase()];
  if (found !== undefined) return found;
  throw new CommandError(`The name of ${file} does not show its format. Add --format csv, ndjson or json.`);
};

const hasEnded = ({ state }: TransferRecord): boolean => ['done', 'failed', 'cancelled'].includes(state);

const firstPauseMs = 250;
const longestPauseMs = 10_000;

/** Waits longer after each look, because a deployment allows 100 requests in 15 minutes. */
const waitForEnd = async <R extends TransferRecord>(
  dashboard: Dashboard,
  path: string,
  onProgress: (record: R) => void,
): Promise<R> => {
  for (let ms = firstPauseMs; ; ms = Math.min(ms * 1.5, longestPauseMs)) {
    const record = await dashboard.get<R>(path);
    if (hasEnded(record)) return record;
    onProgress(record);
    await pause(ms);
  }
};

const requireDone = (what: string, { state, failure }: TransferRecord): void => {
  if (state === 'done') return;
  throw new CommandError(
    `The ${what} ${state === 'failed' ? 'failed' : 'was cancelled'}${failure ? `: ${failure}` : '.'}`,
  );
};

const sizeOf = async (path: string, name: string): Promise<number> => {
  const found = await stat(path).catch((error: Error) => {
    throw new CommandError(`${name} cannot be read: ${error.message}`);
  });
  if (!found.isFile() || found.size === 0) throw new CommandError(`${name} is not a file with content.`);
  return found.size;
};

/** Sends the file to its signed address. The token stays here: another service stores the file. */
const upload = async (path: string, size: number, { signedUrl, contentType }: ImportRecord): Promise<void> => {
  if (signedUrl === null) throw new CommandError('The service gave no address for the upload.');
  const body = Readable.toWeb(createReadStream(path)) as ReadableStream;
  const headers = { 'content-type': contentType, 'content-length': String(size) };
  const response = await fetch(signedUrl, { method: 'PUT', headers, body, duplex: 'half' } as RequestInit).catch(
    (error: Error) => {
      throw new CommandError(`The upload failed: ${error.message}`);
    },
  );
  if (!response.ok) throw new CommandError(`The upload failed with status ${response.status}.`);
};

const percentOf = (part: number, whole: number | null): string =>
  whole ? `${Math.floor((part / whole) * 100)} %` : '';

const countOf = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`;

const importText = ({ inserted, rejected, skipped, errors }: ImportRecord): string => {
  const parts = [
    `Imported ${countOf(inserted, 'document', 'documents')}`,
    ...(skipped > 0 ? [`skipped ${skipped}`] : []),
    ...(rejected > 0 ? [`rejected ${rejected}`] : []),
  ];
  const lines = errors.map(({ line, message }) => `  line ${line}: ${message}\n`);
  return `${parts.join(', ')}.\n${lines.join('')}`;
};

/** Imports a file. Ends with 1 if lines were rejected. */
export const importFile = async (
  terminal: Terminal,
  options: ImportOptions,
  name: string,
  collection: string,
): Promise<number> => {
  const format = formatOf(name, options.format);
  const path = resolve(terminal.folder, name);
  const size = await sizeOf(path, name);
  const { dashboard, path: project } = await openProject(terminal, options);
  const imports = `${project}/collections/${encodeURIComponent(collection)}/imports`;
  const conflict = options['on-conflict'];
  const started = await dashboard.call<ImportRecord>('POST', imports, {
    // A JSON array is read as NDJSON.
    format: format === 'json' ? 'ndjson' : format,
    fileName: basename(name),
    upload: true,
    size,
    keepIds: options['keep-ids'] === true,
    ...(conflict !== undefined && { onConflict: conflict }),
  });
  terminal.progress('Uploading …');
  await upload(path, size, started);
  await dashboard.call('POST', `${imports}/${started._id}/start`);
  const ended = await waitForEnd<ImportRecord>(dashboard, `${imports}/${started._id}`, ({ bytes, inserted }) => {
    terminal.progress(`Imported ${inserted} … ${percentOf(bytes, size)}`);
  });
  const { inserted, rejected, skipped, errors, state, failure } = ended;
  if (state === 'failed' && rejected === 0) requireDone('import', ended);
  if (state === 'cancelled') requireDone('import', ended);
  if (options.json) terminal.print(`${JSON.stringify({ inserted, rejected, skipped, errors, failure })}\n`);
  else terminal.print(importText(ended));
  return rejected > 0 ? 1 : 0;
};

const parseWhere = (text: string | undefined): Readonly<Record<string, unknown>> | undefined => {
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // The error below shows the form.
  }
  throw new CommandError(`--where must be a condition in JSON, such as --where '{"views": {"$gte": 5}}'.`);
};

const downloadFrom = async (url: string | null): Promise<AsyncIterable<Uint8Array>> => {
  const response = await fetch(url ?? '').catch((error: Error) => {
    throw new CommandError(`The download failed: ${error.message}`);
  });
  if (response.ok && response.body) return response.body;
  throw new CommandError(`The download failed with status ${response.status}.`);
};

/** A file with this name appears only when it is complete. */
const writeFileFrom = async (path: string, pieces: AsyncIterable<Uint8Array>): Promise<void> => {
  const draft = `${path}.part`;
  try {
    const file = await open(draft, 'w');
    try {
      for await (const piece of pieces) await file.write(piece);
    } finally {
      await file.close();
    }
    await rename(draft, path);
  } catch (error) {
    throw new CommandError(`${path} cannot be written: ${(error as Error).message}`);
  } finally {
    await rm(draft, { force: true });
  }
};

/** Exports a collection to a file, or to standard output. The file on the service is deleted afterwards. */
export const exportCollection = async (
  terminal: Terminal,
  options: ExportOptions,
  collection: string,
  name?: string,
): Promise<number> => {
  const format = formatOf(name, options.format);
  const where = parseWhere(options.where);
  if (name === undefined && options.json)
    throw new CommandError('--json needs a FILE, because the documents go to standard output.');
  const { dashboard, path: project } = await openProject(terminal, options);
  const exports = `${project}/collections/${encodeURIComponent(collection)}/exports`;
  const body = { format, includeDeleted: options['include-deleted'] === true, ...(where && { where }) };
  const started = await dashboard.call<ExportRecord>('POST', exports, body);
  try {
    const ended = await waitForEnd<ExportRecord>(dashboard, `${exports}/${started._id}`, ({ count }) => {
      terminal.progress(`Exported ${count} …`);
    });
    requireDone('export', ended);
    const pieces = await downloadFrom(ended.url);
    if (name === undefined) {
      for await (const piece of pieces) await terminal.write(piece);
    } else {
      await writeFileFrom(resolve(terminal.folder, name), pieces);
      const { count } = ended;
      if (options.json) terminal.print(`${JSON.stringify({ file: name, count })}\n`);
      else terminal.print(`Exported ${countOf(count, 'document', 'documents')} to ${name}.\n`);
    }
    return 0;
  } finally {
    // It is deleted after two days in any case.
    await dashboard.call('DELETE', `${project}/transfers/${started._id}`).catch(() => undefined);
  }
};
