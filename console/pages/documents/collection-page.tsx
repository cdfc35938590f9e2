import type { ComponentChildren } from 'preact';
import { useRoute } from 'preact-iso/router';
import { t } from '../../text/words.ts';
import { Page } from '../../ui/page.tsx';
import { Tabs } from '../../ui/tabs.tsx';

const parts = ['documents', 'aggregate', 'schema', 'access', 'effects', 'indexes', 'trash', 'transfers'] as const;
export type CollectionPart = (typeof parts)[number];

/** Users have routes of their own. */
const partsOf = (collectionName: string): readonly CollectionPart[] =>
  parts.filter((part) => !['access', 'aggregate', 'effects'].includes(part) || collectionName !== 'users');

/** A page of one collection, with links to the others. */
export const CollectionPage = ({
  part,
  acts,
  children,
}: {
  readonly part: CollectionPart;
  readonly acts?: ComponentChildren;
  readonly children: ComponentChildren;
}) => {
  const { projectId = '', collectionName = '' } = useRoute().params;
  const base = `/projects/${projectId}/documents/${collectionName}`;
  const hrefOf = (name: CollectionPart): string => (name === 'documents' ? base : `${base}/${name}`);
  return (
    <Page title={collectionName} acts={acts}>
      <Tabs
        label={collectionName}
        present={hrefOf(part)}
        tabs={partsOf(collectionName).map((name) => [hrefOf(name), t.collection.parts[name]])}
      />
      {children}
    </Page>
  );
};
