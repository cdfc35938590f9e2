/** A name for what is tried, and the address that it asks for. */
export type Attack = readonly [what: string, url: string];

/** What attacks begin with: a private picture and what an attacker may hold besides. */
export interface Target {
  /** Without a slash at the end. */
  readonly host: string;
  /** `<project id>/<uuid>_<name>` of the private picture. */
  readonly path: string;
  /** A link that opens it. */
  readonly link: string;
  /** A link that opens a size of it, 64 pixels wide, which is kept. */
  readonly sized: string;
  /** Links that open that size of other pictures. */
  readonly otherSized: readonly string[];
  /** A link that has expired. */
  readonly expired: string;
  /** Links that open something else: another file of the project, one of another project, a public file. */
  readonly others: readonly string[];
  /** Addresses signed by keys that nobody trusts. */
  readonly forged: readonly string[];
}

const spellings = (text: string): readonly string[] => [
  text,
  text.toUpperCase(),
  `%${text.charCodeAt(0).toString(16)}${text.slice(1)}`,
  [...text].map((letter) => `%${letter.charCodeAt(0).toString(16)}`).join(''),
  `%25${text.charCodeAt(0).toString(16)}${text.slice(1)}`,
];

/** Ways to name the file without any signature. */
const unsigned = ({ host, path }: Target): readonly Attack[] => {
  const folders = [
    'private',
    'files',
    'pending',
    'basalt-files/private',
    'files/private',
    'private/files',
    'private/private',
  ];
  const bare = folders.flatMap((folder) => spellings(folder).map((spelling) => `/${spelling}/${path}`));
  const encoded = [
    path.replace('/', '%2f'),
    path.replace('/', '%2F'),
    path.replace('/', '%252f'),
    path.replace('/', '\\'),
  ];
  const steps = ['..', '%2e%2e', '.%2e', '%2e.', '%252e%252e', '..;', '.', '%2e'];
  const walks = steps.flatMap((step) => [
    `/${step}/private/${path}`,
    `/files/${step}/private/${path}`,
    `/private/${step}/private/${path}`,
    `/${path.split('/')[0]}/${step}/private/${path}`,
    `/x/${step}/${step}/private/${path}`,
  ]);
  const slashes = ['//', '///', '/%2f', '/%5c', '/;/', '/%00/', '/ /', '/%20/'];
  const around = [
    `/${path}`,
    `/private/${path}/`,
    `/private/${path}%00`,
    `/private/${path}%20`,
    `/private/${path}.`,
    `/private/${path};x`,
    `/private/${path}#`,
    `/private/${path}?`,
    `/private/${path}?x=1`,
    `/private/${path}?Expires=9999999999`,
    `/private/${path}?Signature=`,
    `/private/${path}?Policy=eyJTdGF0ZW1lbnQiOlt7fV19&Signature=x&Key-Pair-Id=local`,
    `/private/${path}?X-Amz-Signature=x`,
    `/private/${path}?versionId=null`,
    `/private/${path}?response-content-type=text/html`,
    '/private',
    '/private/',
    '/private/?list-type=2',
    '/?prefix=private/',
    `/?list-type=2&prefix=private/${path}`,
    `/private/${path.split('/')[0]}`,
    `/private/${path.split('/')[0]}/`,
    `/private/${path.split('/')[0]}/*`,
    `/private/${path.slice(0, -1)}`,
    `/private/${path.slice(0, -1)}*`,
    `/private/${path.slice(0, -1)}?`,
    `/files/../private/${path}?Expires=9999999999&Signature=x&Key-Pair-Id=local&Hash-Algorithm=SHA256`,
  ];
  return [
    ...bare,
    ...encoded.map((one) => `/private/${one}`),
    ...encoded.map((one) => `/${one}`),
    ...walks,
    ...slashes.map((slash) => `${slash}private/${path}`),
    ...slashes.map((slash) => `/private${slash}${path}`),
    ...around,
  ].map((where) => [`without a signature: ${where.replaceAll(path, '<path>')}`, `${host}${where}`] as const);
};

const without = (url: string, name: string): string => url.replace(new RegExp(`([?&])${name}=[^&]*&?`), '$1');
const changed = (url: string, name: string, value: string): string =>
  url.replace(new RegExp(`([?&]${name}=)[^&]*`), `$1${value}`);

/** A link that opens the file, altered. */
const altered = ({ link, host, path, others }: Target): readonly Attack[] => {
  const names = ['Expires', 'Signature', 'Key-Pair-Id', 'Hash-Algorithm'];
  const query = link.slice(link.indexOf('?'));
  const signature = new URL(link).searchParams.get('Signature') ?? '';
  const expires = Number(new URL(link).searchParams.get('Expires'));
  return [
    ...names.map((name) => [`without ${name}`, without(link, name)] as const),
    ...names.map((name) => [`with an empty ${name}`, changed(link, name, '')] as const),
    ...names.map((name) => [`with ${name} twice`, `${link}&${name}=${new URL(link).searchParams.get(name)}`] as const),
    ...names.map((name) => [`with ${name} in small letters`, link.replace(name, name.toLowerCase())] as const),
    ...[1, 60, 3600, -1, 1e9].map(
      (more) => [`with ${more} s more`, changed(link, 'Expires', String(expires + more))] as const,
    ),
    ...['9999999999', '0x7fffffff', '1e12', `${expires}.0`, ` ${expires}`, `0${expires}`, '-1', 'NaN'].map(
      (value) => [`with Expires=${value}`, changed(link, 'Expires', value)] as const,
    ),
    ...[
      'x',
      signature.slice(4),
      `${signature}AAAA`,
      [...signature].reverse().join(''),
      'MAYCAQACAQA_',
      'MAYCAQECAQE_',
    ].map((value, at) => [`with another signature (${at})`, changed(link, 'Signature', value)] as const),
    ...['other', '', 'LOCAL', '__proto__', 'constructor', '../local'].map(
      (value) => [`with the key ${value}`, changed(link, 'Key-Pair-Id', value)] as const,
    ),
    ...['SHA1', 'sha256', 'none', 'MD5'].map(
      (value) => [`with the algorithm ${value}`, changed(link, 'Hash-Algorithm', value)] as const,
    ),
    ...['w=64', 'w=640', 'h=64', 'format=webp', 'fit=contain', 'x=1', 'Policy=x', '='].map(
      (more) => [`with ${more} added`, `${link}&${more}`] as const,
    ),
    ...['w=64', 'x=1'].map((more) => [`with ${more} put first`, link.replace('?', `?${more}&`)] as const),
    ...others.map(
      (other, at) =>
        [`the signature of another file (${at})`, `${host}/private/${path}${other.slice(other.indexOf('?'))}`] as const,
    ),
    ...['', '/', '%20', '.', '%00'].map(
      (end) => [`its path ended by ${JSON.stringify(end)}`, `${host}/private/${path}${end || 'x'}${query}`] as const,
    ),
    ['its name in capitals', `${host}/private/${path.toUpperCase()}${query}`],
    ['its question encoded', link.replace('?', '%3f')],
    ['its question after a hash', link.replace('?', '#')],
    ['the host in the path', `${host}/${host}/private/${path}${query}`],
    ['a path encoded after it was signed', link.replace('_', '%5f')],
  ];
};

/** Ways to a size that none was signed for, and from a link to a size to the file or to another size. */
const resized = ({ host, path, link, sized, otherSized }: Target): readonly Attack[] => {
  const queries = [link, sized].map((url) => url.slice(url.indexOf('?')));
  const places = [
    `/private/${path}/w64`,
    `/private/${path}%2Fw64`,
    `/private/${path.replace('/', '%2F')}%2Fw64`,
    `/private%2F${path}/w64`,
    `/private%2f${path.replace('/', '%2f')}%2fw64`,
    `/%70rivate/${path}/w64`,
    `/..%2Fprivate%2F${path}%2Fw64`,
    `/x/..%2F..%2Fprivate/${path}/w64`,
    `/${path}/w64`,
    `/${path}%2Fw64`,
    `/files/${path}/w64`,
  ];
  return [
    ...places.map((place) => [`a size without a signature: ${place.replace(path, '<path>')}`, host + place] as const),
    ...places.flatMap((place) =>
      queries.map((query, at) => [
        `${place.replace(path, '<path>')} with the query of ${at}`,
        `${host}${place}${query}`,
      ]),
    ),
    ...['w=64', 'w=64&format=png', 'format=webp'].map(
      (size) => [`a size without a signature: ${size}`, `${host}/private/${path}?${size}`] as const,
    ),
    ...[
      '',
      'w=128&',
      'w=064&',
      'w=%36%34&',
      '%77=64&',
      'W=64&',
      'w=64&w=64&',
      'h=64&',
      'w=64&format=png&',
      'w=64;',
    ].map((size) => [`a link to a size with "${size}" instead`, sized.replace('w=64&', size)] as const),
    ...otherSized.map(
      (other, at) =>
        [
          `the signature of a size of another (${at})`,
          `${host}/private/${path}${other.slice(other.indexOf('?'))}`,
        ] as const,
    ),
  ] as readonly Attack[];
};

/** Everything that must not open a private picture. */
export const linkAttacks = (target: Target): readonly Attack[] => [
  ...unsigned(target),
  ...altered(target),
  ...altered({ ...target, link: target.sized }).map(([what, url]) => [`a link to a size, ${what}`, url] as const),
  ...resized(target),
  ['an expired link', target.expired],
  ...target.forged.map((url, at) => [`a link by a key that nobody trusts (${at})`, url] as const),
];
