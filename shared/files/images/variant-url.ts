// What addresses of files ask for, read by CloudFront at its edge too (infra/stacks/size-requests.ts). Its JavaScript
// is an old one, to which the build holds this file: nothing is taken apart or spread, and no parameter has a default.

/** Widths and heights that pictures are made in, in pixels. */
export const sides = [64, 128, 256, 320, 480, 640, 768, 1024, 1280, 1600, 2048];

export const fits = ['cover', 'contain'];

/** Formats that pictures are made in. */
export const formats = ['webp', 'avif', 'jpeg', 'png'];

/** A parameter of an address, as it stands there: name and value. */
export type SizeParameter = readonly [name: string, value: string];

interface Asked {
  /** Such as `w640_h480_contain_webp`, the same for whatever asks for the same; empty for the file as it is. */
  readonly name: string;
  /** What is wrong with it, for a person; empty where nothing is. */
  readonly refusal: string;
}

const refused = (refusal: string): Asked => ({ name: '', refusal });

const nearestTo = (value: number): number =>
  sides.reduce((best, side) => (Math.abs(side - value) <= Math.abs(best - value) ? side : best), 64);

/** What is wrong with a width or a height; empty where nothing is. */
const sideProblem = (name: string, value: string): string => {
  if (sides.some((side) => String(side) === value)) return '';
  const nearest = /^[0-9]{1,15}$/.test(value) ? ` The nearest is ${nearestTo(Number(value))}.` : '';
  return `${name} must be one of ${sides.join(', ')}.${nearest}`;
};

const problemOf = (name: string, value: string): string => {
  if (name === 'w' || name === 'h') return sideProblem(name, value);
  const list = name === 'fit' ? fits : formats;
  return list.indexOf(value) < 0 ? `${name} must be one of ${list.join(', ')}.` : '';
};

const known = ['w', 'h', 'fit', 'format'];

/** The size that parameters ask for: any other is ignored, one that is there twice or off the lists is refused. */
export const sizeAsked = (parameters: readonly SizeParameter[]): Asked => {
  const valuesOf = (name: string): string[] => parameters.filter((one) => one[0] === name).map((one) => one[1]);
  const all = known.map(valuesOf);
  const problems = known.map((name, at) => {
    const values = all[at] as string[];
    if (values.length > 1) return `${name} stands there ${values.length} times; name it once.`;
    return values.length === 0 ? '' : problemOf(name, values[0] as string);
  });
  const problem = problems.filter((text) => text !== '')[0];
  if (problem !== undefined) return refused(problem);
  const value = (at: number): string => (all[at] as string[])[0] || '';
  const parts = [
    value(0) && `w${value(0)}`,
    value(1) && `h${value(1)}`,
    // A side alone keeps the picture whole, so that there is nothing to fit.
    value(0) && value(1) && value(2) === 'contain' ? 'contain' : '',
    value(3),
  ];
  return { name: parts.filter((part) => part !== '').join('_'), refusal: '' };
};

export interface Led {
  /** Where the origin has what is asked for. */
  readonly path: string;
  /** 200, or the status of a refusal. */
  readonly status: number;
  /** Of a refusal: the JSON of the envelope. */
  readonly body: string;
}

/** Addresses of files: public ones, and those of links; nobody asks for the places of sizes by themselves. */
const ofFile = /^(?:\/private)?\/[0-9a-f]{24}\/[A-Za-z0-9._-]+$/;

const refusal = (status: number, code: string, message: string, requestId: string): Led => ({
  path: '',
  status,
  body: JSON.stringify({ success: false, message, code, requestId }),
});

/** Where an address of the files' origin leads: the file itself, or the size of it that its parameters ask for. */
export const leadTo = (path: string, parameters: readonly SizeParameter[], requestId: string): Led => {
  if (!ofFile.test(path)) return refusal(404, 'FILE_NOT_FOUND', 'File not found.', requestId);
  const asked = sizeAsked(parameters);
  if (asked.refusal !== '') return refusal(400, 'INVALID_SIZE', asked.refusal, requestId);
  return { path: asked.name === '' ? path : `${path}/${asked.name}`, status: 200, body: '' };
};
