const regions = { $sum: ['$region.north', '$region.south'] };
const window = (output: object, sort = 'orderDate') => ({
  $setWindowFields: { partitionBy: '$state', sortBy: { [sort]: 1 }, output },
});

/** Pipelines of MongoDB’s manual by page, from the pages of the allowed stages and operators. */
export const documentedPipelines: readonly (readonly [page: string, pipeline: readonly object[]])[] = [
  ['$match: equality', [{ $match: { author: 'dave' } }]],
  [
    '$match: count',
    [
      { $match: { $or: [{ score: { $gt: 70, $lt: 90 } }, { views: { $gte: 1000 } }] } },
      { $group: { _id: null, count: { $sum: 1 } } },
    ],
  ],
  ['$match: $expr', [{ $match: { $expr: { $gt: ['$spent', '$budget'] } } }]],
  ['$project: include', [{ $project: { title: 1, author: 1 } }]],
  ['$project: suppress _id', [{ $project: { _id: 0, title: 1, author: 1 } }]],
  ['$project: exclude nested', [{ $project: { 'author.first': 0, lastModified: 0 } }]],
  [
    '$project: exclude conditionally',
    [
      {
        $project: {
          title: 1,
          'author.first': 1,
          'author.last': 1,
          'author.middle': { $cond: [{ $eq: ['', '$author.middle'] }, '$$REMOVE', '$author.middle'] },
        },
      },
    ],
  ],
  [
    '$project: computed',
    [
      {
        $project: {
          title: 1,
          isbn: {
            prefix: { $substr: ['$isbn', 0, 3] },
            group: { $substr: ['$isbn', 3, 2] },
            publisher: { $substr: ['$isbn', 5, 4] },
            title: { $substr: ['$isbn', 9, 3] },
            checkDigit: { $substr: ['$isbn', 12, 1] },
          },
          lastName: '$author.last',
          copiesSold: '$copies',
        },
      },
    ],
  ],
  ['$project: new array', [{ $project: { myArray: ['$x', '$y', '$someField'] } }]],
  [
    '$addFields: two stages',
    [
      { $addFields: { totalHomework: { $sum: '$homework' }, totalQuiz: { $sum: '$quiz' } } },
      { $addFields: { totalScore: { $add: ['$totalHomework', '$totalQuiz', '$extraCredit'] } } },
    ],
  ],
  ['$addFields: embedded', [{ $addFields: { 'specs.fuel_type': 'unleaded' } }]],
  [
    '$addFields: an element',
    [{ $match: { _id: 1 } }, { $addFields: { homework: { $concatArrays: ['$homework', [7]] } } }],
  ],
  ['$set: replace', [{ $set: { _id: '$item', item: 'fruit' } }]],
  ['$set: average', [{ $set: { quizAverage: { $avg: '$quiz' } } }]],
  ['$unset: one', [{ $unset: 'copies' }]],
  ['$unset: embedded', [{ $unset: ['isbn', 'author.first', 'copies.warehouse'] }]],
  ['$group: count', [{ $group: { _id: null, count: { $count: {} } } }]],
  ['$group: distinct', [{ $group: { _id: '$item' } }]],
  [
    '$group: having',
    [
      { $group: { _id: '$item', totalSaleAmount: { $sum: { $multiply: ['$price', '$quantity'] } } } },
      { $match: { totalSaleAmount: { $gte: 100 } } },
    ],
  ],
  [
    '$group: by day',
    [
      { $match: { date: { $gte: { $date: '2014-01-01' }, $lt: { $date: '2015-01-01' } } } },
      {
        $group: {
          _id: { $dateToString: { format: '%Y-%m-%d', date: '$date' } },
          totalSaleAmount: { $sum: { $multiply: ['$price', '$quantity'] } },
          averageQuantity: { $avg: '$quantity' },
          count: { $sum: 1 },
        },
      },
      { $sort: { totalSaleAmount: -1 } },
    ],
  ],
  ['$group: pivot', [{ $group: { _id: '$author', books: { $push: '$title' } } }]],
  [
    '$group: documents by author',
    [
      { $group: { _id: '$author', books: { $push: '$$ROOT' } } },
      { $addFields: { totalCopies: { $sum: '$books.copies' } } },
    ],
  ],
  ['$sort: two fields', [{ $sort: { borough: 1, _id: 1 } }]],
  [
    '$sort: text score',
    [{ $match: { $text: { $search: 'operating' } } }, { $sort: { score: { $meta: 'textScore' }, posts: -1 } }],
  ],
  ['$limit', [{ $limit: 5 }]],
  ['$skip', [{ $skip: 5 }]],
  ['$count', [{ $match: { score: { $gt: 80 } } }, { $count: 'passing_scores' }]],
  ['$unwind', [{ $unwind: '$sizes' }]],
  [
    '$unwind: empty and index',
    [{ $unwind: { path: '$sizes', preserveNullAndEmptyArrays: true, includeArrayIndex: 'i' } }],
  ],
  [
    '$unwind: group by unwound',
    [
      { $unwind: { path: '$sizes', preserveNullAndEmptyArrays: true } },
      { $group: { _id: '$sizes', averagePrice: { $avg: '$price' } } },
      { $sort: { averagePrice: -1 } },
    ],
  ],
  [
    '$unwind: embedded arrays',
    [
      { $unwind: '$items' },
      { $unwind: '$items.tags' },
      {
        $group: { _id: '$items.tags', totalSalesAmount: { $sum: { $multiply: ['$items.price', '$items.quantity'] } } },
      },
    ],
  ],
  [
    '$lookup: equality',
    [{ $lookup: { from: 'inventory', localField: 'item', foreignField: 'sku', as: 'inventory_docs' } }],
  ],
  [
    '$lookup: with $mergeObjects',
    [
      { $lookup: { from: 'items', localField: 'item', foreignField: 'item', as: 'fromItems' } },
      { $replaceRoot: { newRoot: { $mergeObjects: [{ $arrayElemAt: ['$fromItems', 0] }, '$$ROOT'] } } },
      { $project: { fromItems: 0 } },
    ],
  ],
  [
    '$lookup: several conditions',
    [
      {
        $lookup: {
          from: 'warehouses',
          let: { order_item: '$item', order_qty: '$ordered' },
          pipeline: [
            {
              $match: {
                $expr: { $and: [{ $eq: ['$stock_item', '$$order_item'] }, { $gte: ['$instock', '$$order_qty'] }] },
              },
            },
            { $project: { stock_item: 0, _id: 0 } },
          ],
          as: 'stockdata',
        },
      },
    ],
  ],
  [
    '$lookup: uncorrelated',
    [
      {
        $lookup: {
          from: 'holidays',
          pipeline: [
            { $match: { year: 2018 } },
            { $project: { _id: 0, date: { name: '$name', date: '$date' } } },
            { $replaceRoot: { newRoot: '$date' } },
          ],
          as: 'holidays',
        },
      },
    ],
  ],
  [
    '$lookup: concise correlated',
    [
      {
        $lookup: {
          from: 'restaurants',
          localField: 'restaurant_name',
          foreignField: 'name',
          let: { orders_drink: '$drink' },
          pipeline: [{ $match: { $expr: { $in: ['$$orders_drink', '$beverages'] } } }],
          as: 'matches',
        },
      },
    ],
  ],
  [
    '$graphLookup: one collection',
    [
      {
        $graphLookup: {
          from: 'employees',
          startWith: '$reportsTo',
          connectFromField: 'reportsTo',
          connectToField: 'name',
          as: 'reportingHierarchy',
        },
      },
    ],
  ],
  [
    '$graphLookup: with a depth',
    [
      {
        $graphLookup: {
          from: 'airports',
          startWith: '$nearestAirport',
          connectFromField: 'connects',
          connectToField: 'airport',
          maxDepth: 2,
          depthField: 'numConnections',
          as: 'destinations',
        },
      },
    ],
  ],
  [
    '$graphLookup: with a filter',
    [
      { $match: { name: 'Tanya Jordan' } },
      {
        $graphLookup: {
          from: 'people',
          startWith: '$friends',
          connectFromField: 'friends',
          connectToField: 'name',
          as: 'golfers',
          restrictSearchWithMatch: { hobbies: 'golf' },
        },
      },
      { $project: { name: 1, friends: 1, 'connections who play golf': '$golfers.name' } },
    ],
  ],
  [
    '$unionWith: a year',
    [
      { $set: { _id: '2017' } },
      { $unionWith: { coll: 'sales_2018', pipeline: [{ $set: { _id: '2018' } }] } },
      { $unionWith: { coll: 'sales_2019', pipeline: [{ $set: { _id: '2019' } }] } },
      { $sort: { _id: 1, store: 1, item: 1 } },
    ],
  ],
  ['$unionWith: total', [{ $unionWith: 'sales_2018' }, { $group: { _id: '$item', total: { $sum: '$quantity' } } }]],
  [
    '$facet',
    [
      {
        $facet: {
          categorizedByTags: [{ $unwind: '$tags' }, { $sortByCount: '$tags' }],
          categorizedByPrice: [
            { $match: { price: { $exists: 1 } } },
            {
              $bucket: {
                groupBy: '$price',
                boundaries: [0, 150, 200, 300, 400],
                default: 'Other',
                output: { count: { $sum: 1 }, titles: { $push: '$title' } },
              },
            },
          ],
          categorizedByYears: [{ $bucketAuto: { groupBy: '$year', buckets: 4 } }],
        },
      },
    ],
  ],
  [
    '$bucket',
    [
      {
        $bucket: {
          groupBy: '$year_born',
          boundaries: [1840, 1850, 1860, 1870, 1880],
          default: 'Other',
          output: {
            count: { $sum: 1 },
            artists: { $push: { name: { $concat: ['$first_name', ' ', '$last_name'] }, year_born: '$year_born' } },
          },
        },
      },
      { $match: { count: { $gt: 3 } } },
    ],
  ],
  [
    '$bucketAuto',
    [{ $bucketAuto: { groupBy: '$year', buckets: 4, granularity: 'R20', output: { titles: { $push: '$title' } } } }],
  ],
  ['$sortByCount', [{ $unwind: '$tags' }, { $sortByCount: '$tags' }]],
  ['$replaceRoot: embedded', [{ $match: { name: { $exists: true } } }, { $replaceRoot: { newRoot: '$name' } }]],
  [
    '$replaceRoot: array',
    [{ $unwind: '$grades' }, { $match: { 'grades.grade': { $gte: 90 } } }, { $replaceRoot: { newRoot: '$grades' } }],
  ],
  [
    '$replaceRoot: defaults',
    [
      {
        $replaceRoot: {
          newRoot: { $mergeObjects: [{ _id: '', name: '', email: '', cell: '', home: '' }, '$$ROOT'] },
        },
      },
    ],
  ],
  [
    '$replaceWith',
    [
      { $match: { status: 'C' } },
      {
        $replaceWith: { _id: '$_id', item: '$item', amount: { $multiply: ['$price', '$quantity'] }, asofDate: '$$NOW' },
      },
    ],
  ],
  ['$sample', [{ $sample: { size: 3 } }]],
  [
    '$geoNear',
    [
      {
        $geoNear: {
          near: { type: 'Point', coordinates: [-73.99279, 40.719296] },
          distanceField: 'dist.calculated',
          maxDistance: 2,
          query: { category: 'Parks' },
          includeLocs: 'dist.location',
          spherical: true,
        },
      },
    ],
  ],
  ['$search', [{ $search: { text: { query: 'baseball', path: 'plot' } } }, { $limit: 3 }, { $project: { plot: 1 } }]],
  [
    '$vectorSearch',
    [
      { $vectorSearch: { index: 'i', path: 'plot_embedding', queryVector: [0.1, 0.2], numCandidates: 150, limit: 10 } },
      { $project: { title: 1, score: { $meta: 'vectorSearchScore' } } },
    ],
  ],
  [
    '$setWindowFields: cumulative',
    [window({ cumulative: { $sum: '$quantity', window: { documents: ['unbounded', 'current'] } } })],
  ],
  [
    '$setWindowFields: time range',
    [window({ recentOrders: { $push: '$orderDate', window: { range: ['unbounded', 10], unit: 'month' } } })],
  ],
  ['$setWindowFields: rank', [window({ rankQuantityForState: { $rank: {} } }, 'quantity')]],
  [
    '$setWindowFields: derivative',
    [
      window({
        truckAverageSpeed: {
          $derivative: { input: '$miles', unit: 'hour' },
          window: { range: [-30, 0], unit: 'second' },
        },
      }),
      { $match: { truckAverageSpeed: { $gt: 50 } } },
    ],
  ],
  [
    '$densify: time',
    [
      {
        $densify: {
          field: 'timestamp',
          range: {
            step: 1,
            unit: 'hour',
            bounds: [{ $date: '2021-05-18T00:00:00Z' }, { $date: '2021-05-18T08:00:00Z' }],
          },
        },
      },
    ],
  ],
  [
    '$densify: partitions',
    [{ $densify: { field: 'altitude', partitionByFields: ['variety'], range: { bounds: 'full', step: 200 } } }],
  ],
  ['$fill: constant', [{ $fill: { output: { bootsSold: { value: 0 }, sandalsSold: { value: 0 } } } }]],
  ['$fill: linear', [{ $fill: { sortBy: { time: 1 }, output: { price: { method: 'linear' } } } }]],
  [
    '$fill: partitions',
    [{ $fill: { sortBy: { date: 1 }, partitionBy: { r: '$restaurant' }, output: { score: { method: 'locf' } } } }],
  ],
  [
    '$redact: every level',
    [
      { $match: { year: 2014 } },
      {
        $redact: {
          $cond: [{ $gt: [{ $size: { $setIntersection: ['$tags', ['STLW', 'G']] } }, 0] }, '$$DESCEND', '$$PRUNE'],
        },
      },
    ],
  ],
  [
    '$map: add to each',
    [{ $project: { adjusted: { $map: { input: '$quizzes', as: 'grade', in: { $add: ['$$grade', 2] } } } } }],
  ],
  ['$map: truncate', [{ $project: { d: { $map: { input: '$distances', as: 'v', in: { $trunc: '$$v' } } } } }]],
  [
    '$filter: by price',
    [{ $project: { items: { $filter: { input: '$items', as: 'item', cond: { $gte: ['$$item.price', 100] } } } } }],
  ],
  [
    '$filter: limit',
    [{ $project: { x: { $filter: { input: '$items', cond: { $lte: ['$$this.price', 150] }, limit: 2 } } } }],
  ],
  [
    '$reduce: multiplication',
    [
      {
        $group: { _id: '$experimentId', probabilityArr: { $push: '$probability' } },
      },
      {
        $project: {
          results: { $reduce: { input: '$probabilityArr', initialValue: 1, in: { $multiply: ['$$value', '$$this'] } } },
        },
      },
    ],
  ],
  [
    '$reduce: concatenation of texts',
    [
      { $match: { hobbies: { $gt: [] } } },
      {
        $project: {
          bio: {
            $reduce: {
              input: '$hobbies',
              initialValue: 'My hobbies include:',
              in: {
                $concat: ['$$value', { $cond: [{ $eq: ['$$value', 'My hobbies include:'] }, ' ', ', '] }, '$$this'],
              },
            },
          },
        },
      },
    ],
  ],
  [
    '$reduce: concatenation of arrays',
    [
      {
        $project: {
          collapsed: { $reduce: { input: '$arr', initialValue: [], in: { $concatArrays: ['$$value', '$$this'] } } },
        },
      },
    ],
  ],
  [
    '$reduce: several reductions',
    [
      {
        $project: {
          results: {
            $reduce: {
              input: '$arr',
              initialValue: { collapsed: [], firstValues: [] },
              in: {
                collapsed: { $concatArrays: ['$$value.collapsed', '$$this'] },
                firstValues: { $concatArrays: ['$$value.firstValues', { $slice: ['$$this', 1] }] },
              },
            },
          },
        },
      },
    ],
  ],
  ['$range: stops', [{ $project: { 'Rest stops': { $range: [25, { $min: ['$distance', 10_000] }, 25] } } }]],
  [
    '$zip: transposed',
    [
      {
        $project: {
          transposed: { $zip: { inputs: [{ $arrayElemAt: ['$matrix', 0] }, { $arrayElemAt: ['$matrix', 1] }] } },
        },
      },
    ],
  ],
  [
    '$zip: filter by index',
    [
      {
        $project: {
          pages: {
            $filter: {
              input: { $zip: { inputs: ['$pages', { $range: [0, { $size: '$pages' }] }] } },
              as: 'pageWithIndex',
              cond: { $gte: [{ $arrayElemAt: ['$$pageWithIndex', 1] }, 1] },
            },
          },
        },
      },
    ],
  ],
  ['$concatArrays', [{ $project: { items: { $concatArrays: ['$instock', '$ordered'] } } }]],
  ['$setUnion', [{ $project: { allValues: { $setUnion: ['$flowerFieldA', '$flowerFieldB'] } } }]],
  [
    '$objectToArray: sum',
    [
      { $project: { warehouses: { $objectToArray: '$instock' } } },
      { $unwind: '$warehouses' },
      { $group: { _id: '$warehouses.k', total: { $sum: '$warehouses.v' } } },
    ],
  ],
  [
    '$arrayToObject: round trip',
    [
      { $addFields: { instock: { $objectToArray: '$instock' } } },
      { $addFields: { instock: { $concatArrays: ['$instock', [{ k: 'total', v: { $sum: '$instock.v' } }]] } } },
      { $addFields: { instock: { $arrayToObject: '$instock' } } },
    ],
  ],
  ['$split', [{ $project: { city_state: { $split: ['$city', ', '] }, qty: 1 } }, { $unwind: '$city_state' }]],
  [
    '$replaceAll',
    [{ $project: { item: { $replaceAll: { input: '$item', find: 'blue paint', replacement: 'red paint' } } } }],
  ],
  ['$regexFindAll', [{ $addFields: { returnObject: { $regexFindAll: { input: '$description', regex: 'line' } } } }]],
  [
    '$let',
    [
      {
        $project: {
          total: { $let: { vars: { total: { $add: ['$price', '$tax'] } }, in: { $multiply: ['$$total', 2] } } },
        },
      },
    ],
  ],
  ['$sortArray', [{ $project: { result: { $sortArray: { input: '$team', sortBy: { age: -1, score: -1 } } } } }]],
  ['$mergeObjects: accumulator', [{ $group: { _id: '$item', mergedSales: { $mergeObjects: '$quantity' } } }]],
  [
    '$topN',
    [
      {
        $group: {
          _id: '$gameId',
          players: { $topN: { n: 3, sortBy: { score: -1 }, output: ['$playerId', '$score'] } },
        },
      },
    ],
  ],
  ['a sum of regions', [{ $project: { total: regions } }, { $sort: { total: -1 } }, { $limit: 10 }]],
];
