/** Which files users of a project may upload with its publishable key; what its record leaves out has the default. */
export interface UserUploads {
  readonly users: boolean;
  /** The most bytes that one may have; in our storage up to 10 MiB. */
  readonly maxBytes: number;
  /** Media types such as `image/png`, `image/*`, or all of them. */
  readonly types: readonly string[];
}

/** As a project's record keeps them. */
export type StoredUploads = { readonly [K in keyof UserUploads]?: UserUploads[K] | undefined };

export const userUploads = ({
  users = false,
  maxBytes = 10_485_760,
  types = ['*/*'],
}: StoredUploads = {}): UserUploads => ({
  users,
  maxBytes,
  types,
});

/** A media type without its parameters, in small letters. */
export const bareType = (contentType: string): string => (contentType.split(';')[0] ?? '').trim().toLowerCase();

/** Whether a media type is among those that users may upload. */
export const allowsType = ({ types }: UserUploads, contentType: string): boolean => {
  const type = bareType(contentType);
  return types.some(
    (one) => one === '*/*' || one === type || (one.endsWith('/*') && type.startsWith(one.slice(0, -1))),
  );
};
