// SPDX-License-Identifier: Apache-2.0
// The lines of the table of methods, each made in its own file.
#pragma once

#include "milieu/base/export.h"
#include "milieu/run/methods.h"

namespace MILIEU_API milieu {

MethodEntry cac_method();
MethodEntry dcp_method();
MethodEntry icc_method();
MethodEntry exemplar_method();
MethodEntry dlgmm_method();

MethodEntry kmeans_method();
MethodEntry kmodes_method();
MethodEntry gmm_method();
MethodEntry ncut_method();
MethodEntry meanshift_method();
MethodEntry agglomerative_method();
MethodEntry kmedoids_method();

MethodEntry topics_method();
MethodEntry bags_method();
MethodEntry multinomials_method();
MethodEntry jsom_method();

}  // namespace milieu
