import { AppError } from '../core/errors.ts';

/** 400 `SIZE_MISMATCH`: what was sent as `size`, and how many bytes it is. */
export const sizeMismatch = (size: number, stored: number): AppError =>
  new AppError('SIZE_MISMATCH', `size is ${size}, but the file was uploaded, or announced, with ${stored} bytes.`, {
    errors: [{ field: 'size', message: `size does not match the ${stored} bytes of the file` }],
  });
