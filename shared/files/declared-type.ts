import { fileTypeFromBuffer } from 'file-type';
import { AppError } from '../core/errors.ts';
import { bareType } from '../projects/user-uploads.ts';

/** As many bytes as tell what a file is. */
export const tellingBytes = 4100;

/** Other names of what a file is found to be. */
const aliases: Readonly<Record<string, string>> = {
  'image/jpg': 'image/jpeg',
  'image/x-png': 'image/png',
  'audio/mp3': 'audio/mpeg',
  'audio/x-wav': 'audio/wav',
  'audio/m4a': 'audio/x-m4a',
  'application/x-zip-compressed': 'application/zip',
  'application/x-gzip': 'application/gzip',
};

const known = (type: string): string => aliases[type] ?? type;

/** Types whose files begin with something that tells them; SVG is text. */
const tellsItself = /^(?:image\/(?!svg)|audio\/|video\/|font\/|application\/(?:pdf|zip|gzip)$)/;

/** Documents in a zip, which its beginning does not always tell from any other. */
const inZip = /^application\/(?:vnd\.|epub\+zip|java-archive)/;

const fits = (declared: string, found: string | undefined): boolean => {
  if (found === undefined) return !tellsItself.test(declared);
  if (declared === 'application/octet-stream' || known(declared) === known(found)) return true;
  return (found === 'application/zip' || found === 'application/x-cfb') && inZip.test(declared);
};

/** Refuses a file whose beginning is not that of its declared type: 400 `CONTENT_TYPE_MISMATCH`. */
export const requireDeclaredType = async (contentType: string, start: Uint8Array): Promise<void> => {
  const found = (await fileTypeFromBuffer(start))?.mime;
  if (fits(bareType(contentType), found)) return;
  throw new AppError(
    'CONTENT_TYPE_MISMATCH',
    `The file was announced as ${contentType}, but its content is ${found ?? 'not'}. Upload it again with the type that it has.`,
    { errors: [{ field: 'filePath', message: 'filePath leads to content of another type than was announced' }] },
  );
};
