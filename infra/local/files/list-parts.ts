import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import type { Stored } from './emulation.ts';
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
