package ssm

import (
	"github.com/aws/aws-sdk-go-v2/service/ssm/schemas"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// Service returns the operations, ready to be served over HTTP.
func (s *SSM) Service() *wire.Service {
	v := &wire.Service{
		Name:      "ssm",
		Target:    "AmazonSSM",
		Version:   "2014-11-06",
		Namespace: "http://ssm.amazonaws.com/doc/2014-11-06/",
		Default:   wire.JSON11,
		Schema:    schemas.AmazonSSM,
	}
	wire.Handle(v, "AddTagsToResource", schemas.AddTagsToResource, schemas.AddTagsToResourceResult, s.AddTagsToResource)
	wire.Handle(v, "CancelCommand", schemas.CancelCommand, schemas.CancelCommandResult, s.CancelCommand)
	wire.Handle(v, "CreateDocument", schemas.CreateDocument, schemas.CreateDocumentResult, s.CreateDocument)
	wire.Handle(v, "DeleteDocument", schemas.DeleteDocument, schemas.DeleteDocumentResult, s.DeleteDocument)
	wire.Handle(v, "DeleteParameter", schemas.DeleteParameter, schemas.DeleteParameterResult, s.DeleteParameter)
	wire.Handle(v, "DeleteParameters", schemas.DeleteParameters, schemas.DeleteParametersResult, s.DeleteParameters)
	wire.Handle(v, "DescribeDocument", schemas.DescribeDocument, schemas.DescribeDocumentResult, s.DescribeDocument)
	wire.Handle(v, "DescribeInstanceInformation", schemas.DescribeInstanceInformation, schemas.DescribeInstanceInformationResult, s.DescribeInstanceInformation)
	wire.Handle(v, "DescribeParameters", schemas.DescribeParameters, schemas.DescribeParametersResult, s.DescribeParameters)
	wire.Handle(v, "GetCommandInvocation", schemas.GetCommandInvocation, schemas.GetCommandInvocationResult, s.GetCommandInvocation)
	wire.Handle(v, "GetDocument", schemas.GetDocument, schemas.GetDocumentResult, s.GetDocument)
	wire.Handle(v, "GetParameter", schemas.GetParameter, schemas.GetParameterResult, s.GetParameter)
	wire.Handle(v, "GetParameters", schemas.GetParameters, schemas.GetParametersResult, s.GetParameters)
	wire.Handle(v, "GetParametersByPath", schemas.GetParametersByPath, schemas.GetParametersByPathResult, s.GetParametersByPath)
	wire.Handle(v, "ListCommandInvocations", schemas.ListCommandInvocations, schemas.ListCommandInvocationsResult, s.ListCommandInvocations)
	wire.Handle(v, "ListCommands", schemas.ListCommands, schemas.ListCommandsResult, s.ListCommands)
	wire.Handle(v, "ListDocumentVersions", schemas.ListDocumentVersions, schemas.ListDocumentVersionsResult, s.ListDocumentVersions)
	wire.Handle(v, "ListDocuments", schemas.ListDocuments, schemas.ListDocumentsResult, s.ListDocuments)
	wire.Handle(v, "ListInventoryEntries", schemas.ListInventoryEntries, schemas.ListInventoryEntriesResult, s.ListInventoryEntries)
	wire.Handle(v, "ListTagsForResource", schemas.ListTagsForResource, schemas.ListTagsForResourceResult, s.ListTagsForResource)
	wire.Handle(v, "PutInventory", schemas.PutInventory, schemas.PutInventoryResult, s.PutInventory)
	wire.Handle(v, "PutParameter", schemas.PutParameter, schemas.PutParameterResult, s.PutParameter)
	wire.Handle(v, "RemoveTagsFromResource", schemas.RemoveTagsFromResource, schemas.RemoveTagsFromResourceResult, s.RemoveTagsFromResource)
	wire.Handle(v, "SendCommand", schemas.SendCommand, schemas.SendCommandResult, s.SendCommand)
	wire.Handle(v, "UpdateDocument", schemas.UpdateDocument, schemas.UpdateDocumentResult, s.UpdateDocument)
	wire.Handle(v, "UpdateDocumentDefaultVersion", schemas.UpdateDocumentDefaultVersion, schemas.UpdateDocumentDefaultVersionResult, s.UpdateDocumentDefaultVersion)
	return v
}
