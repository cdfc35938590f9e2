import type { ApiExample } from 'basalt:api';
import { useLocation } from 'preact-iso/router';
import type { Data } from '../../api/rows.ts';
import { t } from '../../text/words.ts';
import { addressWith } from '../../ui/address.ts';
import { Snippet } from '../../ui/snippet.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { codeOf, isLanguage, languages, type Names } from './code.ts';
import { RunCall } from './run-call.tsx';
import { hasCapitals, sampled } from './sample.ts';
import { wayOf } from './way.ts';

export const Method = ({ method }: Pick<ApiExample, 'method'>) => (
  <span class="method mono" data-method={method}>
    {method}
  </span>
);

/** One route: its code in several languages, and a form to call it. */
export const ApiCall = ({
  example,
  names,
  project,
}: {
  readonly example: ApiExample;
  readonly names: Names;
  readonly project: Data<'get-project'>;
}) => {
  const { path, query } = useLocation();
  const language = isLanguage(query.in) ? query.in : 'curl';
  const way = wayOf(example, names);
  const code = codeOf(language, sampled(example, names), names, way);
  return (
    <section class="card stack api-call" aria-label={example.summary}>
      <a class="api-back" href={addressWith(path, query, { open: undefined })}>
        {t.api.all}
      </a>
      <h2>{example.summary}</h2>
      <p class="row">
        <Method method={example.method} />
        <span class="mono">{example.path.replace('{collectionName}', names.collection.name)}</span>
      </p>
      <p class="muted">
        {t.api.ways[way]} {hasCapitals(code) && t.api.capitals}
      </p>
      <Tabs
        label={t.api.language}
        present={addressWith(path, query, { in: language })}
        tabs={languages.map((one) => [addressWith(path, query, { in: one }), t.api.languages[one]])}
      />
      <Snippet code={code} label={t.api.languages[language]} />
      <h3>{t.api.run}</h3>
      <RunCall example={example} names={names} project={project} />
    </section>
  );
};
