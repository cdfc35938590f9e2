import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { useLocation, useRoute } from 'preact-iso/router';
import { useQuery } from '../../api/query.ts';
import { rows } from '../../text/rows.ts';
import { viewAs } from '../../text/view-as.ts';
import { t } from '../../text/words.ts';
import { addressWith } from '../../ui/address.ts';
import { Button, LinkButton } from '../../ui/button.tsx';
import { Empty } from '../../ui/empty.tsx';
import { useKept } from '../../ui/kept.ts';
import { keyText } from '../../ui/keys.ts';
import { pageOf, useSmallerPage } from '../../ui/page-size.ts';
import { Pager } from '../../ui/pager.tsx';
import { isId } from '../../ui/places.ts';
import { ProblemNote } from '../../ui/problem-note.tsx';
import { SearchBox } from '../../ui/search-box.tsx';
import { type Shortcuts, useShortcuts } from '../../ui/shortcuts.ts';
import { say } from '../../ui/toast.tsx';
import { leaving } from '../../ui/unsaved.tsx';
import { CollectionPage } from './collection-page.tsx';
import { chosenColumns, fieldPaths, usualColumns } from './columns.ts';
import { ColumnsMenu } from './columns-menu.tsx';
import { DocumentPanel } from './document-panel.tsx';
import { DocumentsTable } from './documents-table.tsx';
import { ExportForm } from './export-form.tsx';
import { FilterBar } from './filter-bar.tsx';
import { changesFor, partsOf, whereText } from './filter-parts.ts';
import { listQuery, queryText, typedQuery } from './list-address.ts';
import { NewDocument } from './new-document.tsx';
import { PanelHandle, shareOf } from './panel-handle.tsx';
import { useFeed } from './renewed-by-feed.ts';
import { RequestLine } from './request-line.tsx';
import { viewQuery } from './saved-views.ts';
import { collectionOf, enforcedFields } from './shown-fields.ts';
import { ViewAsMenu, ViewingAs } from './view-as.tsx';
import { viewerOf, withoutUser } from './viewer.ts';
import { ViewsMenu } from './views-menu.tsx';

export { prefetch } from './prefetch.ts';

const none = { search: undefined, page: undefined };

/** The documents of a collection. Filter, sort, page, columns and the open document are in the address. */
export const Documents = () => {
  const { projectId = '', collectionName = '' } = useRoute().params;
  const place = { projectId, collectionName };
  const { path, query, route } = useLocation();
  const adding = useSignal(false);
  const exporting = useSignal(false);
  const schema = useQuery('get-collection', place);
  const { data: collection, problem: noSchema } = schema.value;
  useFeed(place, collection?.changes ?? false);
  const viewer = viewerOf(query);
  const list = useQuery('list-project-documents', { ...place, query: listQuery(query, viewer) });
  const [kept, keep] = useKept(`columns:${projectId}/${collectionName}`, chosenColumns);
  const [share, keepShare] = useKept('panel', shareOf);
  const { data, problem: refusal } = list.value;
  const problem = useSmallerPage(refusal) ? undefined : refusal;
  const page = data && 'items' in data ? data : undefined;
  const { page: at } = pageOf(query);
  const rules = collection ? enforcedFields(collection) : [];
  const fields = fieldPaths(rules, page?.items);
  const shown = chosenColumns(query.columns) ?? kept ?? usualColumns(rules, page?.items);
  const filtered = collection && collectionOf(collection);
  const parts = filtered ? partsOf(filtered, query) : [];
  const canMatch = page !== undefined && !query.search && parts.every((part) => 'filter' in part);
  const matching = canMatch
    ? {
        where: JSON.parse(whereText(parts) ?? '{"_id":{"$exists":true}}') as Readonly<Record<string, unknown>>,
        total: page.total,
        capped: page.totalCapped ?? false,
      }
    : undefined;
  const go = (changes: Readonly<Record<string, string | undefined>>): void => route(addressWith(path, query, changes));
  const { close, insert } = useMemo(() => {
    const show = (what: 'new' | undefined) => (): void =>
      route(addressWith(path, query, { open: undefined, copy: undefined, tab: undefined, new: what && '1' }));
    return { close: show(undefined), insert: () => leaving(show('new')) };
  }, [path, query, route]);
  const shortcuts = useMemo<Shortcuts>(
    () => ({
      ...(viewer === undefined && { insert }),
      filter: () => {
        adding.value = true;
      },
    }),
    [insert, adding, viewer],
  );
  useShortcuts(shortcuts);
  const choose = (columns: readonly string[] | undefined): void => {
    const text = columns?.join(',');
    keep(text);
    go({ columns: text });
  };
  const isSearchable = rules.some(({ searchable }) => searchable) || query.search !== undefined;
  const isFiltered = parts.length > 0 || query.search !== undefined;
  const isRefusedVisitor = viewer === withoutUser && problem?.code === 'TOKEN_MISSING';
  const isAdding = viewer === undefined && (query.copy !== undefined || query.new !== undefined);
  const isBeside = query.open !== undefined || isAdding;
  const showExport = (is: boolean) => () => {
    exporting.value = is;
  };
  const acts = viewer === undefined && (
    <>
      <Button onClick={showExport(true)}>{t.transfers.export}</Button>
      <Button kind="main-act" title={keyText('insert')} onClick={insert}>
        {t.documents.insert}
      </Button>
    </>
  );
  return (
    <CollectionPage part="documents" acts={acts}>
      {filtered && viewer === undefined && exporting.value && (
        <ExportForm {...place} {...{ query, parts, shown, fields }} onClose={showExport(false)} />
      )}
      {viewer !== undefined && <ViewingAs projectId={projectId} viewer={viewer} />}
      {/* Above both halves, so that an opened document does not move the rows. */}
      <div class="stack list-head">
        <FilterBar
          collection={filtered}
          parts={parts}
          fields={fields}
          adding={adding}
          onChange={(next) => go({ ...changesFor(query, next), page: undefined })}
        >
          <SearchBox
            label={isSearchable ? rows.search.words : rows.search.byId}
            words={query.search ?? ''}
            onSearch={(search) => {
              // An id finds its document, even if the filter hides it.
              if (isId(search)) go({ ...changesFor(query, []), where: JSON.stringify({ _id: search }), ...none });
              else if (isSearchable || search === '') go({ search, page: undefined });
              else say(rows.search.notSearchable);
            }}
          />
          {filtered && (
            <ViewsMenu
              projectId={projectId}
              collection={filtered}
              present={viewQuery(filtered, query, shown.join(','))}
            />
          )}
          <ColumnsMenu place={place} shown={shown} fields={fields} onChoose={choose} />
          {collectionName !== 'users' && <ViewAsMenu projectId={projectId} />}
        </FilterBar>
        <RequestLine
          collectionName={collectionName}
          query={queryText(query)}
          fields={fields}
          onRun={(text) => go(typedQuery(query, text))}
        />
      </div>
      <div class={isBeside ? 'halves sized' : undefined} style={isBeside ? { '--panel': `${share}%` } : undefined}>
        <div class="stack">
          {isRefusedVisitor && <p>{viewAs.refused}</p>}
          {problem && <ProblemNote problem={problem} onRetry={isRefusedVisitor ? undefined : list.reload} />}
          {!problem && !collection && noSchema && <ProblemNote problem={noSchema} onRetry={schema.reload} />}
          {page?.items.length === 0 ? (
            <Empty
              text={
                at > 1 ? t.pager.beyond : isFiltered ? t.documents.noneFit : viewer ? viewAs.none : t.documents.none
              }
            >
              {at === 1 && !isFiltered && viewer === undefined && (
                <LinkButton href={`${path}/transfers`}>{t.documents.importFile}</LinkButton>
              )}
            </Empty>
          ) : (
            (page || !problem) && (
              <DocumentsTable
                {...{ place, rules, shown, fields, matching }}
                items={page?.items}
                onColumns={choose}
                isReadOnly={viewer !== undefined}
              />
            )
          )}
          {page && (page.items.length > 0 || at > 1) && (
            <div class="row small muted pager">
              <Pager shown={page.items.length} total={page.total} capped={page.totalCapped ?? false} />
              {page.truncated && <span>{t.documents.truncated}</span>}
            </div>
          )}
        </div>
        {isBeside && <PanelHandle share={share} onShare={keepShare} />}
        {collection && query.open !== undefined && (
          <DocumentPanel
            key={`${query.open} ${viewer}`}
            projectId={projectId}
            collection={collection}
            id={query.open}
            viewer={viewer}
            onClose={close}
          />
        )}
        {collection && query.open === undefined && isAdding && (
          <NewDocument
            key={query.copy ?? ''}
            projectId={projectId}
            collection={collection}
            copyOf={query.copy}
            onClose={close}
          />
        )}
      </div>
    </CollectionPage>
  );
};
