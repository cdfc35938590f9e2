import { useLocation } from 'preact-iso/router';
import { t } from '../../text/words.ts';
import { addressWith } from '../../ui/address.ts';
import { Tabs } from '../../ui/tabs.tsx';

const tabs = ['form', 'json'] as const;
type DocumentTab = (typeof tabs)[number];

/** The tab in the address. A document without fields is edited as JSON. */
export const documentTab = ({ tab }: Readonly<Record<string, string>>, hasFields: boolean): DocumentTab =>
  tabs.find((one) => one === tab) ?? (hasFields ? 'form' : 'json');

const shown = ['open', 'new', 'copy'] as const;

/** Whether two addresses show the same document, so that its draft is kept. */
export const isSameDocument = (here: URL, to: URL): boolean =>
  to.pathname === here.pathname && shown.every((name) => to.searchParams.get(name) === here.searchParams.get(name));

export const DocumentTabs = ({ present }: { readonly present: DocumentTab }) => {
  const { path, query } = useLocation();
  const hrefOf = (tab: DocumentTab): string => addressWith(path, query, { tab });
  return (
    <Tabs
      label={t.documents.tabs}
      present={hrefOf(present)}
      tabs={tabs.map((tab) => [hrefOf(tab), t.documents.tab[tab]])}
    />
  );
};
