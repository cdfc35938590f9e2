import { AppError } from '../core/errors.ts';

/** The refusal of a collection that is not registered (404); `name` is cut at 63 characters. */
export const collectionNotFound = (name: string): AppError =>
  new AppError(
    'COLLECTION_NOT_FOUND',
    `This project has no collection "${name.slice(0, 63)}", with exactly these letters. ` +
      'Collections are made on the dashboard API: POST /api/projects/:projectId/collections.',
  );
