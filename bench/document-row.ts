/** What is done with documents, by each contender in its own words. */
export type DocumentRow =
  | 'create'
  | 'bulk'
  | 'get'
  | 'getAlone'
  | 'list'
  | 'listMany'
  | 'filter'
  | 'where'
  | 'search'
  | 'feed'
  | 'populate'
  | 'aggregate'
  | 'update'
  | 'delete';

/** What peers have in no comparable way. */
export type OwnRow = 'where' | 'search' | 'feed';
