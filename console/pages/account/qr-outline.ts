import { encode } from 'uqr';

/** The dark modules of a QR code as an outline of runs, `M4 4h7v1h-7z…`, in a square of `size` with its margin. */
export const qrOutline = (text: string): { readonly outline: string; readonly size: number } => {
  // Four modules of margin are what readers look for.
  const { data, size } = encode(text, { ecc: 'M', border: 4 });
  const runs = data.flatMap((row, y) =>
    [
      ...row
        .map((dark) => (dark ? '#' : ' '))
        .join('')
        .matchAll(/#+/g),
    ].map(({ index, 0: { length } }) => `M${index} ${y}h${length}v1h-${length}z`),
  );
  return { outline: runs.join(''), size };
};
