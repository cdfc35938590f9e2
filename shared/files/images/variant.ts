import { AppError } from '../../core/errors.ts';
import { type SizeParameter, sizeAsked } from './variant-url.ts';

/**
 * Header by which the origin of files says whose readers a request for a size is from, `public` or `private`: whatever
 * its path is read as on the way, a private picture is made for who has a link alone.
 */
export const visibilityHeader = 'x-visibility';

/** What a picture is made into; sides in pixels, which are never more than the picture has. */
export interface Size {
  readonly width?: number | undefined;
  readonly height?: number | undefined;
  readonly fit: 'cover' | 'contain';
  /** That of the file where none is named. */
  readonly format?: 'webp' | 'avif' | 'jpeg' | 'png' | undefined;
}

/** What may be asked for, whether there is such a size or not. */
export type AskedSize = { readonly [K in keyof Size]?: Size[K] | string | number | undefined };

const shape = /^(?:w(?<width>\d+))?_?(?:h(?<height>\d+))?_?(?<fit>contain)?_?(?<format>webp|avif|jpeg|png)?$/;

/** The parameters by which addresses ask for a size. */
const parametersOf = ({ width, height, fit, format }: AskedSize): SizeParameter[] => {
  const values = { w: width, h: height, fit, format };
  return Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]));
};

/** The parameters of a query, as it was sent. */
export const parametersIn = (query: string): SizeParameter[] =>
  query.split('&').map((part) => {
    const [name = '', value = ''] = part.split('=', 2);
    return [name, value];
  });

/** Reads the name that `sizeAsked` gives to a size; `undefined` for every other text. */
export const parseSize = (name: string): Size | undefined => {
  const found = shape.exec(name)?.groups;
  if (!found) return undefined;
  const side = (text: string | undefined): number | undefined => (text === undefined ? undefined : Number(text));
  const size: Size = {
    width: side(found.width),
    height: side(found.height),
    fit: found.fit === 'contain' ? 'contain' : 'cover',
    format: found.format as Size['format'],
  };
  return name !== '' && sizeAsked(parametersOf(size)).name === name ? size : undefined;
};

/** What is added to the address of a file for a size of it, `?w=640` or nothing; bad ones → 400 `INVALID_SIZE`. */
export const sizeQuery = (size: AskedSize): string => {
  const parameters = parametersOf(size);
  const { refusal } = sizeAsked(parameters);
  if (refusal !== '') {
    const message = refusal.replace(/^w /, 'width ').replace(/^h /, 'height ');
    throw new AppError('INVALID_SIZE', message);
  }
  return parameters.length === 0 ? '' : `?${parameters.map((pair) => pair.join('=')).join('&')}`;
};
