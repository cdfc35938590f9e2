import { t } from '../text/words.ts';

/** Where one can go. */
export interface Place {
  readonly label: string;
  readonly href: string;
}

/** Whether a text is the id of a document. */
export const isId = (text: string): boolean => /^[0-9a-f]{24}$/i.test(text);

/** Every place of a project. */
export const placesOf = (projectId: string, collections: readonly string[]): readonly Place[] => {
  const base = `/projects/${projectId}`;
  return [
    ...collections.flatMap((name) => {
      const own = `${base}/documents/${name}`;
      return [
        { label: name, href: own },
        ...(['schema', 'indexes', 'trash', 'transfers'] as const).map((part) => ({
          label: `${name} · ${t.collection.parts[part]}`,
          href: `${own}/${part}`,
        })),
      ];
    }),
    { label: t.nav.newCollection, href: `${base}/new-collection` },
    { label: t.nav.overview, href: base },
    ...(['access', 'users', 'files', 'requests', 'usage', 'api'] as const).map((area) => ({
      label: t.nav[area],
      href: `${base}/${area}`,
    })),
    ...Object.entries(t.mail.parts).map(([part, label]) => ({
      label: `${t.nav.mail} · ${label}`,
      href: `${base}/mail/${part}`,
    })),
    ...Object.entries(t.settings.parts).map(([part, label]) => ({
      label: `${t.nav.settings} · ${label}`,
      href: `${base}/settings/${part}`,
    })),
  ];
};

/** Where the document with an id would be: in one of the collections; none for what is no id. */
export const placesOfId = (projectId: string, collections: readonly string[], id: string): readonly Place[] =>
  isId(id)
    ? collections.map((name) => ({
        label: `${name} · ${id}`,
        href: `/projects/${projectId}/${name === 'users' ? 'users' : `documents/${name}`}?open=${id.toLowerCase()}`,
      }))
    : [];
